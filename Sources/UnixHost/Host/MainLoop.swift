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
/// The main actor's work runs on the process's first thread from beginning to end, where an asynchronous `main` and
/// `dispatchMain` leave it at the first suspension. The loop waits in `poll` for the main queue's descriptor: it costs nothing
/// while there is no work.
public enum MainLoop {
  /// Runs a body on the main actor, and the main actor's work until it has returned; then exits with the status it returned.
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
    /// Waits for work of the main actor, and does it.
    package static func turn() {
      var queue = pollfd(fd: _dispatch_get_main_queue_handle_4CF(), events: Int16(POLLIN), revents: 0)
      // Interrupted by signals, which are the host's; any other failure would turn in a circle.
      guard poll(&queue, 1, -1) > 0 || errno == EINTR else {
        fatalError("the main queue cannot be waited for: \(errno)")
      }
      guard queue.revents != 0 else { return }
      // The descriptor counts wake-ups; the count is taken before the work, so that none is lost.
      var count: UInt64 = 0
      _ = read(queue.fd, &count, MemoryLayout<UInt64>.size)
      _dispatch_main_queue_callback_4CF(nil)
    }
  #endif
}
