import CUnixHost

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

// Links libdispatch, whose functions are called here.
import Dispatch

/// A program's main loop on its first thread, for programs that link no Foundation.
///
/// The main actor's work runs on the process's first thread from beginning to end. An asynchronous `main` and `dispatchMain`
/// leave that thread at the first suspension. The loop waits in `poll` for the main queue's descriptor: it costs nothing while
/// there is no work.
public enum MainLoop {
  /// Runs a body on the main actor, and the main actor's work until the body has returned; then exits with the status that it
  /// returned.
  ///
  /// - Parameter body: the program.
  /// - Precondition: called on the process's first thread.
  public static func run(_ body: @escaping @MainActor @Sendable () async -> Int32) -> Never {
    // Before libdispatch opens anything.
    unixhost_streams_hold()
    Task { @MainActor in exit(await body()) }
    #if canImport(Darwin)
      dispatchMain()
    #else
      while true { turn() }
    #endif
  }

  #if !canImport(Darwin)
    /// A descriptor that is readable while work waits for the main actor, for a program that has a loop of its own.
    ///
    /// Wait for it (`POLLIN`) beside your own descriptors, and call ``performWork()`` when it is readable. It is
    /// level-triggered and stays the same for the life of the process. Do not read it or close it.
    ///
    /// Apple's systems have none: there the run loop of the first thread serves the main actor.
    public static var descriptor: Int32 {
      unixhost_streams_hold()
      return _dispatch_get_main_queue_handle_4CF()
    }

    /// Performs the work that waits for the main actor, if there is any, and returns.
    ///
    /// Work that this work adds is performed as well, or makes ``descriptor`` readable again. It never waits for events.
    ///
    /// - Precondition: called on the process's first thread, and not by work of the main actor.
    public static func performWork() {
      // The descriptor counts wake-ups; the count is taken before the work, so that none is lost.
      var count: UInt64 = 0
      _ = read(descriptor, &count, MemoryLayout<UInt64>.size)
      _dispatch_main_queue_callback_4CF(nil)
    }

    /// Waits for work of the main actor, and does it.
    package static func turn() {
      var queue = pollfd(fd: _dispatch_get_main_queue_handle_4CF(), events: Int16(POLLIN), revents: 0)
      // Interrupted by signals, which are the host's; any other failure would turn in a circle.
      guard poll(&queue, 1, -1) > 0 || errno == EINTR else {
        fatalError("the main queue cannot be waited for: \(errno)")
      }
      if queue.revents != 0 { performWork() }
    }
  #endif
}
