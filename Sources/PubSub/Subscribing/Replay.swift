/// The event that a new subscriber receives first.
public enum Replay: Sendable, Hashable {
  /// No earlier event: the subscriber receives only what is posted from now on.
  case none
  /// The latest event of a sticky type, if there is one. Every later event follows, exactly once each.
  ///
  /// With a bound, the replayed event counts like any other, and may be dropped.
  case latest
}
