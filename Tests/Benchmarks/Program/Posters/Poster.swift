/// One way to tell subscribers of an event, with its subscribers.
struct Poster: Sendable {
  let column: String
  /// Posts that often; the loop is inside, so that no further call is paid for.
  let post: @Sendable (Int) -> Void
  /// Subscribes another handler, which does nothing, and cancels it; nil where nothing can be cancelled.
  let subscribeAndCancel: (@Sendable () -> Void)?

  init(_ column: String, subscribeAndCancel: (@Sendable () -> Void)? = nil, post: @escaping @Sendable (Int) -> Void) {
    (self.column, self.post, self.subscribeAndCancel) = (column, post, subscribeAndCancel)
  }

  /// Everyone who can do this work.
  static func all(_ work: Work) -> [Poster] {
    [
      floor(work), byTopic(work), byType(work), closures(work), foundation(work), message(work),
      Peer.snapshot.poster(work),
      Peer.boost.poster(work), Peer.sigc.poster(work),
    ].compactMap(\.self)
  }
}
