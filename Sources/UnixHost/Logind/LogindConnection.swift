#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The way to logind, for the host's thread alone.
///
/// Never waits: what is asked is answered by an event of ``take()``.
protocol LogindConnection: AnyObject {
  /// What is to be polled; the descriptor is -1 while there is no bus.
  var descriptor: pollfd { get }
  /// When ``take()`` has to be called at the latest.
  var deadline: SuspendingClock.Instant? { get }
  /// Whether logind tells anything, and why not.
  var availability: HostCapabilities.Availability { get }

  /// Begins to look for logind.
  func begin()
  /// Does what is due, and says what has happened.
  func take() -> [LogindStateMachine.Event]
  /// Asks for an inhibitor.
  func requestInhibitor()
  /// Closes the inhibitor; nothing where none is held.
  func releaseInhibitor()
  /// Closes all there is.
  func close()
}
