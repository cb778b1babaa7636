/// A state of an application's life cycle.
///
/// In the diagram states are nodes, and changes are edges. An application enters and leaves active only through
/// inactive, and suspended only through background:
///
///     notRunning ──launch──▶ inactive ◀──────▶ active
///         │  ▲                ▲    │
///         │  └─ terminate ─┐  │    ▼
///         └─ background ──▶ background ◀──▶ suspended ── kill ──▶ notRunning
///            launch
///
/// The states are those of UIKit's `UIApplication.State`, and two states that a UIKit application cannot observe about
/// itself: not running and suspended.
public enum ApplicationState: String, Sendable, Hashable, CaseIterable, Codable {
  /// There is no process: the application was never launched, or has been terminated or killed, or has crashed.
  case notRunning
  /// In the foreground, running code, but receiving no events: during the launch, an interruption, or a change to
  /// another state.
  case inactive
  /// In the foreground and receiving events.
  case active
  /// Not visible, and still running code, in general for a limited time.
  case background
  /// In memory, running no code. Entering and leaving it calls no delegate, and posts nothing but
  /// ``Application/StateDidChange``.
  case suspended

  /// Whether the user sees the application: inactive or active.
  public var isForeground: Bool { self == .inactive || self == .active }

  /// Whether the application's code runs: inactive, active or background.
  package var runsCode: Bool { isForeground || self == .background }

  /// Whether a process exists: every state but not running.
  public var isInMemory: Bool { self != .notRunning }
}
