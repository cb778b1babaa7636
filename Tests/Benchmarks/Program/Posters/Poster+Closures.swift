import CBenchmarks

extension Poster {
  /// A loop over an array of closures: what a program would write that has no bus.
  static func closures(_ work: Work) -> Poster? {
    guard let list = ClosureList(work) else { return nil }
    return Poster(Column.closures) { times in for _ in 0..<times { list.post(Tick(amount: 1)) } }
  }
}

private final class ClosureList: Sendable {
  private let handlers: [@Sendable (Tick) -> Void]

  init?(_ work: Work) {
    switch work {
    case .owning: return nil
    case .counting(let bank): handlers = bank.counters.map { counter in { counter.total &+= $0.amount } }
    case .tallying(let count): handlers = (0..<count).map { _ in { bench_tally_add($0.amount) } }
    }
  }

  // Not inlined, as the bus's post is in another module.
  @inline(never) func post(_ tick: Tick) { for handler in handlers { handler(tick) } }
}
