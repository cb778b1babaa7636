import LibC

/// A connection to logind, used only by the host's thread.
///
/// No method waits. The answer to a request is an event of ``take()``.
protocol LogindConnection: AnyObject {
  /// The descriptor to poll; -1 while there is no bus.
  var descriptor: pollfd { get }
  /// The latest time at which ``take()`` must be called.
  var deadline: SuspendingClock.Instant? { get }
  /// Whether logind reports events, and if not, the reason.
  var availability: HostCapability.Availability { get }

  /// Begins to look for logind.
  func begin()
  /// Performs pending work, and returns the events.
  func take() -> [LogindStateMachine.Event]
  /// Asks for an inhibitor.
  func requestInhibitor()
  /// Closes the inhibitor, if one is held.
  func releaseInhibitor()
  /// Closes the connection and the inhibitor.
  func close()
}
