package import Foundation

#if !canImport(ObjectiveC)
  extension NotificationCenter {
    /// Adds an observer that a post of the main actor calls at once if its queue is the main queue, as on Apple's systems.
    ///
    /// Off the first thread, as in tests, Foundation's method for an optional name makes such a post hang.
    package func addObserver(
      forName name: Notification.Name, object: Any?, queue: OperationQueue?,
      using block: @escaping @Sendable (Notification) -> Void
    ) -> any NSObjectProtocol {
      let isForMainQueue = queue === OperationQueue.main
      return addObserver(
        forName: Optional(name), object: object, queue: isForMainQueue ? nil : queue
      ) { notification in
        // UIKitSystem posts on the main actor.
        if isForMainQueue { MainActor.assertIsolated() }
        block(notification)
      }
    }
  }
#endif
