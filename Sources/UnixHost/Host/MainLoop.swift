import CUnixHost
import LibC

#if canImport(Darwin)
  import CoreFoundation
#endif

// The import links libdispatch, whose functions this file calls.
import Dispatch

/// The main loop of a program, on the process's first thread.
///
/// All work of the main actor runs on the process's first thread. An asynchronous `main` and `dispatchMain` leave that
/// thread at the first suspension. The loop uses no processor time while there is no work.
///
/// On Linux there are two loops, and the program gets one by itself:
///
/// - A program that links the product `NotificationCenterBridge` runs Foundation's main run loop (`RunLoop.main`), so
///   timers, sources and performed blocks run, too. Code that schedules a `Timer` needs it.
/// - Any other program waits in `poll` for the main queue's descriptor, and needs no Foundation.
///
/// On Apple's systems every program runs the system's run loop.
public enum MainLoop {
  /// Runs a body and all other work of the main actor, and exits with the status that the body returns.
  ///
  /// - Parameter body: the program, which runs on the main actor and returns the exit status.
  /// - Precondition: called on the process's first thread.
  public static func run(_ body: @escaping @MainActor @Sendable () async -> Int32) -> Never {
    // Before libdispatch opens any descriptor.
    unixhost_streams_hold()
    Task { @MainActor in exit(await body()) }
    #if canImport(Darwin)
      // The loop ends only if code stops it, and then begins again.
      while CFRunLoopRunInMode(.defaultMode, .greatestFiniteMagnitude, false) != .finished {}
      dispatchMain()
    #else
      while true {
        if !unixhost_run_loop_turn() { turn() }
      }
    #endif
  }

  #if !canImport(Darwin)
    /// A descriptor that is readable while the main actor has work, for a program with its own event loop.
    ///
    /// Wait for it (`POLLIN`) together with your own descriptors, and call ``performWork()`` when it is readable. It is
    /// level-triggered and stays the same for the life of the process. Do not read from it, and do not close it.
    ///
    /// Apple's systems have no such descriptor, because the run loop of the first thread serves the main actor.
    public static var descriptor: Int32 {
      unixhost_streams_hold()
      return _dispatch_get_main_queue_handle_4CF()
    }

    /// Performs the pending work of the main actor, if there is any, and returns.
    ///
    /// Work that this work adds is also performed, or makes ``descriptor`` readable again. The method never waits for
    /// events.
    ///
    /// - Precondition: called on the process's first thread, and not from work of the main actor.
    public static func performWork() {
      // The descriptor counts wake-ups. Read the count before the work, so that no wake-up is lost.
      var count: UInt64 = 0
      _ = read(descriptor, &count, MemoryLayout<UInt64>.size)
      _dispatch_main_queue_callback_4CF(nil)
    }

    /// Waits for work of the main actor, and performs it; this is the loop that needs no Foundation.
    package static func turn() {
      var queue = pollfd(fd: _dispatch_get_main_queue_handle_4CF(), events: Int16(POLLIN), revents: 0)
      // Signals, which the host handles, may interrupt the wait. Any other failure would make this a busy loop.
      guard poll(&queue, 1, -1) > 0 || errno == EINTR else {
        fatalError("cannot wait for the main queue: error \(errno)")
      }
      if queue.revents != 0 { performWork() }
    }
  #endif
}
