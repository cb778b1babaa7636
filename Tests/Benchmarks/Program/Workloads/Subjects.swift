import BenchmarkHarness
import Foundation
import PubSub

extension Section {
  /// Posts from one subject, while others have a subscriber each.
  static func subjects(_ scale: Scale) -> Section {
    Section(
      name: "subjects", title: "One subject's post among subjects with a subscriber each, ns a post",
      rounds: scale.rounds,
      judgements: [
        Judgement(row(100_000), "× among 1", .atMost, 2, aim: 1.2) {
          $0.ratio(row(100_000), Column.ours, toRow: row(1), Column.ours)
        }
      ]
    ) {
      [1, 100_000].flatMap { count in
        [ours(count, scale.slice), foundation(count, scale.slice)]
      }
    }
  }
}

private func row(_ count: Int) -> String { "among \(count.grouped)" }

private final class Subject: Sendable {}

private func ours(_ count: Int, _ slice: Duration) -> Contestant {
  let bus = EventBus()
  let bank = CounterBank(count)
  let subjects = bank.counters.map { _ in Subject() }
  let subscriptions = zip(subjects, bank.counters).map { subject, counter in
    bus.subscribe(to: Tick.self, from: subject) { counter.total &+= $0.amount }
  }
  let poster = subjects[count / 2]
  return Contestant(Column.ours, row: row(count), slice: slice, deliveries: 1, total: { bank.total }) { times in
    withExtendedLifetime((subjects, subscriptions)) {
      for _ in 0..<times { bus.post(Tick(amount: 1), from: poster) }
    }
  }
}

private func foundation(_ count: Int, _ slice: Duration) -> Contestant {
  let center = NotificationCenter()
  let bank = CounterBank(count)
  let subjects = bank.counters.map { _ in Subject() }
  for (subject, counter) in zip(subjects, bank.counters) {
    _ = center.addObserver(forName: tickName, object: subject, queue: nil) { _ in counter.total &+= 1 }
  }
  let poster = subjects[count / 2]
  return Contestant(Column.foundation, row: row(count), slice: slice, deliveries: 1, total: { bank.total }) { times in
    for _ in 0..<times { center.post(name: tickName, object: poster) }
  }
}
