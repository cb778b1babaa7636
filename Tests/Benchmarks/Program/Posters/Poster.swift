import CBenchmarks

/// One way to tell subscribers of an event, with its subscribers.
struct Poster: Sendable {
  let column: String
  /// Posts that often; the loop is inside, so that no further call is paid for.
  let post: @Sendable (Int) -> Void
  /// Subscribes another handler, which does nothing, and cancels it; nil where nothing can be cancelled.
  let subscribeAndCancel: (@Sendable () -> Void)?
  /// The same with a handler that captures an object of its own and uses it.
  let subscribeAndCancelCapturing: (@Sendable () -> Void)?

  init(
    _ column: String, subscribeAndCancel: (@Sendable () -> Void)? = nil,
    subscribeAndCancelCapturing: (@Sendable () -> Void)? = nil, post: @escaping @Sendable (Int) -> Void
  ) {
    (self.column, self.post) = (column, post)
    (self.subscribeAndCancel, self.subscribeAndCancelCapturing) = (subscribeAndCancel, subscribeAndCancelCapturing)
  }

  /// What a handler captures that comes and goes; it adds nothing to what is checked.
  final class Captured: Sendable {
    private let amount: Int
    init() { amount = Int(CommandLine.argc) >> 16 }
    func use() { bench_tally_add(amount) }
  }

  /// All posters that can do this work.
  static func all(_ work: Work) -> [Poster] {
    [
      floor(work), byTopic(work), byType(work), closures(work), foundation(work), message(work),
      Peer.snapshot.poster(work),
      Peer.boost.poster(work), Peer.sigc.poster(work),
    ].compactMap(\.self)
  }
}
