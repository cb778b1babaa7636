// On Apple's systems Foundation calls an observer with the queue `.main` at once in a post on the main thread.
#if !canImport(ObjectiveC)
  import AppLifecycle
  public import Foundation

  extension NotificationCenter {
    /// Adds an observer, as Foundation's method with the same parameters does, and calls it as on Apple's systems.
    ///
    /// In files that import `NotificationCenterBridge` this method takes the place of Foundation's, for every name whose type
    /// is not optional. There are three differences to Foundation's method on Linux:
    ///
    /// - **The main queue.** With the queue `.main`, a post on the main actor calls the block at once. Foundation's method
    ///   does that on the first thread only. Elsewhere its post waits for the main queue, which waits for the post: with
    ///   an asynchronous `main`, and in `swift test`, the program hangs.
    /// - **Other queues.** A post waits for the block alone. That of Foundation's method waits until its queue is empty. A post
    ///   inside an operation of the queue calls the block at once.
    /// - **Simulated processes.** An observer that a simulated process adds while it runs is not called, and its block is
    ///   released, when the process has ended. This holds for a `SimulatedSystem` that makes a delegate for each process.
    ///   The call must come from the main actor, while the system plays a script or its application is
    ///   `Application.current`.
    ///
    /// - Parameters:
    ///   - name: the name of the notifications.
    ///   - object: the object of the notifications; nil for each object.
    ///   - queue: the queue on which the block runs, and for which the post waits; nil for the thread of the post.
    ///   - block: the code to run at each notification.
    /// - Returns: the token with which to remove the observer; the center keeps the observer until then.
    @preconcurrency public func addObserver(
      forName name: Notification.Name, object: Any?, queue: OperationQueue?,
      using block: @escaping @Sendable (Notification) -> Void
    ) -> any NSObjectProtocol {
      let block = queue.map { Self.running(block, on: $0) } ?? block
      return addObserver(
        forName: Optional(name), object: object, queue: nil, using: ProcessObservers.limiting(block))
    }

    /// Returns a block that runs another one on a queue before it returns.
    private static func running(
      _ block: @escaping @Sendable (Notification) -> Void, on queue: OperationQueue
    ) -> @Sendable (Notification) -> Void {
      { notification in
        let isCurrent = queue === OperationQueue.main ? MainQueue.isMainActors : queue === OperationQueue.current
        if isCurrent { return block(notification) }
        // The thread of the post waits until the block has returned.
        nonisolated(unsafe) let notification = notification
        let operation = BlockOperation { block(notification) }
        queue.addOperation(operation)
        operation.waitUntilFinished()
      }
    }
  }
#endif
