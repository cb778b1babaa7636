/// The facts about the machine that a host can observe.
///
/// For people and logs: the reason why there are no memory warnings, for instance.
public struct HostCapabilities: Sendable, Hashable {
  /// Whether a host can observe a fact.
  public enum Availability: Sendable, Hashable, CustomStringConvertible {
    /// The host can observe it, in this way.
    case available(String)
    /// The host cannot observe it, for this reason.
    case unavailable(String)

    /// One line.
    public var description: String {
      switch self {
      case .available(let way): "available: \(way)"
      case .unavailable(let reason): "not available: \(reason)"
      }
    }
  }

  /// Whether memory is short.
  public internal(set) var memoryPressure: Availability
  /// Whether the wall clock was set, and when the date changes.
  public internal(set) var wallClock: Availability
  /// Whether the time zone changes.
  public internal(set) var timeZone: Availability
  /// Whether the process was suspended from outside, and by what.
  public internal(set) var suspension: Availability

  /// Whether the machine's sleep and shutdown, and the lock of the session, are reported in advance.
  ///
  /// Known only while the host runs, which asks logind; may change.
  public internal(set) var session: Availability

  /// The capabilities of the host that runs; nil without a host.
  @MainActor public internal(set) static var current: HostCapabilities?
}
