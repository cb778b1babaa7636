/// A state of a scene's life cycle.
///
///     unattached ──connect──▶ background ◀──────▶ foregroundInactive ◀──────▶ foregroundActive
///         ▲   └────────────── connect and open ────────▲
///         └───── disconnect ───────┘
///
/// A scene enters and leaves active only through inactive. It also enters the foreground from the background only
/// through inactive.
public enum SceneState: String, Sendable, Hashable, CaseIterable {
  /// Not connected yet, or disconnected.
  case unattached
  /// Visible, but receiving no events: during an interruption, or a change to another state.
  case foregroundInactive
  /// Visible, and receiving events.
  case foregroundActive
  /// Connected, but not visible.
  case background

  /// Whether the user sees the scene: inactive or active in the foreground.
  public var isForeground: Bool { self == .foregroundInactive || self == .foregroundActive }
}
