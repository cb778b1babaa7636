import CBenchmarks
import Foundation

extension Poster {
  /// Foundation's classic notifications, found by name, without user info.
  static func foundation(_ work: Work) -> Poster {
    let center = NotificationCenter()
    // The center keeps the observers; their tokens are for removing them alone.
    switch work {
    case .counting(let bank):
      for counter in bank.counters {
        _ = center.addObserver(forName: tickName, object: nil, queue: nil) { _ in counter.total &+= 1 }
      }
    case .tallying(let count):
      for _ in 0..<count {
        _ = center.addObserver(forName: tickName, object: nil, queue: nil) { _ in bench_tally_add(1) }
      }
    }
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
