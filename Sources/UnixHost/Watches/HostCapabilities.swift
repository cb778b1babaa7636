/// The facts about the machine that a host can observe.
///
/// Use it in logs and diagnostics, for example to find out why there are no memory warnings.
public struct HostCapabilities: Sendable, Hashable {
  /// Whether a host can observe a fact.
  public enum Availability: Sendable, Hashable, CustomStringConvertible {
    /// The host can observe the fact, in the way that the text describes.
    case available(String)
    /// The host cannot observe the fact, for the reason that the text gives.
    case unavailable(String)

    /// The availability as one line of text.
    public var description: String {
      switch self {
      case .available(let way): "available: \(way)"
      case .unavailable(let reason): "not available: \(reason)"
      }
    }
  }

  /// Whether the host can observe that memory is low.
  public internal(set) var memoryPressure: Availability
  /// Whether the host can observe that the wall clock is set or the date changes.
  public internal(set) var wallClock: Availability
  /// Whether the host can observe that the time zone changes.
  public internal(set) var timeZone: Availability
  /// Whether the host can observe that the process was suspended from outside, and the reason.
  public internal(set) var suspension: Availability

  /// Whether the host is notified in advance of sleep and shutdown of the machine, and of the lock of the session.
  ///
  /// The value is known only while the host runs, because the host asks logind. It may change.
  public internal(set) var session: Availability

  /// The capabilities of the running host; nil without a host.
  @MainActor public internal(set) static var current: HostCapabilities?
}
