import CPeers

/// A signal library of C++.
struct Peer: Sendable {
  let column: String
  let kind: bench_peer_kind
  let isThreadSafe: Bool

  static let snapshot = Peer(column: Column.snapshot, kind: bench_peer_snapshot, isThreadSafe: true)
  static let boost = Peer(column: Column.boost, kind: bench_peer_boost, isThreadSafe: true)
  static let sigc = Peer(column: Column.sigc, kind: bench_peer_sigc, isThreadSafe: false)

  static let all = [snapshot, boost, sigc]

  /// Nil if the library's headers were not there when this was built.
  func makeSignal() -> PeerSignal? { bench_peer_make(kind).map(PeerSignal.init) }

  /// Nil if the library is not there, or cannot do this work.
  func poster(_ work: Work) -> Poster? {
    switch work {
    case .owning: return nil
    case .tallying where !isThreadSafe: return nil
    case .counting, .tallying: break
    }
    guard let signal = makeSignal() else { return nil }
    switch work {
    case .counting(let bank): for counter in bank.counters { signal.subscribe(counter) }
    case .tallying(let count): for _ in 0..<count { signal.subscribeTally() }
    case .owning: return nil
    }
    return Poster(
      column, subscribeAndCancel: { signal.subscribeAndCancel(times: 1) }, post: { signal.post(times: $0) })
  }
}

/// A signal of such a library.
final class PeerSignal: @unchecked Sendable {
  private let peer: OpaquePointer

  init(_ peer: OpaquePointer) { self.peer = peer }

  deinit { bench_peer_destroy(peer) }

  /// Subscribes a handler that adds to a counter, which has to outlive this.
  func subscribe(_ counter: Counter) { bench_peer_subscribe(peer, Self.word(of: counter)) }

  func subscribeTally() { bench_peer_subscribe_tally(peer) }

  func post(times: Int) { bench_peer_post(peer, 1, times) }

  func subscribeAndCancel(times: Int) { bench_peer_subscribe_and_cancel(peer, times) }

  /// Cancels the subscription that was made as the index-th.
  func cancel(_ index: Int) { bench_peer_cancel(peer, index) }

  /// The word that the floor adds to, too: behind the object's header.
  private static func word(of counter: Counter) -> UnsafeMutablePointer<Int> {
    (Unmanaged.passUnretained(counter).toOpaque() + 16).assumingMemoryBound(to: Int.self)
  }
}
