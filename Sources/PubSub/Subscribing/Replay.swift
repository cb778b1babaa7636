/// What a late subscriber receives first.
public enum Replay: Sendable, Hashable {
  /// Nothing: only what is posted from now on.
  case none
  /// The latest event of a sticky type, if there was one, and then every later one, exactly once each.
  case latest
}
