/// What a host can see of the machine that it runs on.
///
/// For people and logs: why no memory warning ever comes, say.
public struct HostCapabilities: Sendable, Hashable {
  /// Whether something can be seen.
  public enum Availability: Sendable, Hashable, CustomStringConvertible {
    /// It can, in this way.
    case available(String)
    /// It cannot, for this reason.
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
  /// Whether the process was suspended without its doing, and by what.
  public internal(set) var suspension: Availability

  /// Whether the machine's sleep and shutdown, and the lock of the session, are told before they happen.
  ///
  /// It is known, and may change, only while the host runs: logind is asked then.
  public internal(set) var session: Availability

  /// What the host that runs can see; nil where none does.
  @MainActor public internal(set) static var current: HostCapabilities?
}
