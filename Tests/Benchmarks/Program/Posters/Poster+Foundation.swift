import CBenchmarks
import Foundation

extension Poster {
  /// Foundation's classic notifications, found by name, without user info.
  static func foundation(_ work: Work) -> Poster {
    // The center keeps the observers; their tokens are for removing them alone.
    let (center, _) = observedCenter(work)
    return Poster(
      Column.foundation,
      subscribeAndCancel: {
        center.removeObserver(center.addObserver(forName: tickName, object: nil, queue: nil) { _ in })
      },
      subscribeAndCancelCapturing: {
        let captured = Captured()
        center.removeObserver(center.addObserver(forName: tickName, object: nil, queue: nil) { _ in captured.use() })
      },
      post: { times in for _ in 0..<times { center.post(name: tickName, object: nil) } })
  }

  /// A center with observers, and their tokens.
  static func observedCenter(
    _ work: Work, object: (any AnyObject & Sendable)? = nil
  ) -> (NotificationCenter, [any NSObjectProtocol]) {
    let center = NotificationCenter()
    func observe(_ block: @escaping @Sendable (Notification) -> Void) -> any NSObjectProtocol {
      center.addObserver(forName: tickName, object: object, queue: nil, using: block)
    }
    let tokens =
      switch work {
      case .counting(let bank): bank.counters.map { counter in observe { _ in counter.total &+= 1 } }
      case .owning(let bank):
        bank.counters.map { owner in observe { [weak owner] _ in if let owner { owner.total &+= 1 } } }
      case .tallying(let count): (0..<count).map { _ in observe { _ in bench_tally_add(1) } }
      }
    return (center, tokens)
  }

  /// Foundation's typed messages for the main actor, which are delivered inside the post; on the main thread only.
  static func message(_ work: Work) -> Poster? {
    guard case .counting(let bank) = work else { return nil }
    let center = NotificationCenter()
    let tokens = bank.counters.map { counter in
      center.addObserver(of: nil as TickMessage.Subject?, for: TickMessage.Synchronous.self) { message in
        counter.total &+= message.amount
      }
    }
    return Poster(Column.message) { times in
      withExtendedLifetime(tokens) {
        MainActor.assumeIsolated { for _ in 0..<times { center.post(TickMessage.Synchronous(amount: 1)) } }
      }
    }
  }
}
