/// Where an application stands in its life cycle.
///
/// States are nodes; what happens between them are edges. Active is entered and left through inactive only, suspended
/// through background only:
///
///     notRunning ──launch──▶ inactive ◀──────▶ active
///         │  ▲                ▲    │
///         │  └─ terminate ─┐  │    ▼
///         └─ background ──▶ background ◀──▶ suspended ── kill ──▶ notRunning
///            launch
///
/// The facts are those of UIKit's `UIApplication.State`, with the two states that an application cannot see from inside.
public enum ApplicationState: String, Sendable, Hashable, CaseIterable, Codable {
  /// No process: never launched, or terminated, killed or crashed since.
  case notRunning
  /// In the foreground, running code, receiving no events: launching, interrupted, or on the way elsewhere.
  case inactive
  /// In the foreground and receiving events.
  case active
  /// Out of the user's sight, running code for a while.
  case background
  /// In memory, running no code. Entering and leaving it calls nothing and posts nothing.
  case suspended

  /// Whether the user sees the application: inactive or active.
  public var isForeground: Bool { self == .inactive || self == .active }

  /// Whether the application's code runs: inactive, active or background.
  public var runsCode: Bool { isForeground || self == .background }

  /// Whether the application receives the user's events: active only.
  public var receivesEvents: Bool { self == .active }

  /// Whether a process exists: every state but not running.
  public var isInMemory: Bool { self != .notRunning }
}
