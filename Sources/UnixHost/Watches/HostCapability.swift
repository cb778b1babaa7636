/// A fact about the machine that a host may be able to observe.
///
/// Use it in logs and diagnostics, for example to find out why there are no memory warnings:
///
///     for fact in HostCapability.allCases { print(fact, fact.availability?.description ?? "no host runs") }
@nonexhaustive public enum HostCapability: Sendable, Hashable, CaseIterable {
  /// That memory is low.
  ///
  /// Its availability is that at the beginning; a source that ends later, with its control group, is not reported.
  case memoryPressure
  /// That the wall clock is set, or the date changes.
  case wallClock
  /// That the time zone changes.
  case timeZone
  /// That the process was suspended from outside, and the reason.
  case suspension
  /// That the machine is about to sleep or to shut down, and that the session is locked.
  ///
  /// Its availability is known only while the host runs, because the host asks logind. It may change.
  case session

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

  /// Whether the running host can observe the fact; nil without a host.
  @MainActor public var availability: Availability? { Self.ofRunningHost[self] }

  @MainActor static var ofRunningHost: [HostCapability: Availability] = [:]
}
