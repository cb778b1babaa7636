/// Where a scene stands in its life cycle.
///
///     unattached ──connect──▶ background ◀──────▶ foregroundInactive ◀──────▶ foregroundActive
///         ▲   └────────────── connect and open ────────▲
///         └───── disconnect ───────┘
///
/// Active is entered and left through inactive only, and so is the foreground from the background.
public enum SceneState: String, Sendable, Hashable, CaseIterable {
  /// Not connected yet, or disconnected since.
  case unattached
  /// In sight, receiving no events: on the way elsewhere, or interrupted.
  case foregroundInactive
  /// In sight and receiving events.
  case foregroundActive
  /// Connected and out of sight.
  case background

  /// Whether the user sees the scene: inactive or active in the foreground.
  public var isForeground: Bool { self == .foregroundInactive || self == .foregroundActive }
}
