import BenchmarkHarness
import CLinkFloor
import EventLink
import PubSub

/// The most events that are on their way at a time.
private let window = 500

extension Section {
  /// Events as fast as the receiver takes them, counted there.
  @MainActor static func throughput(_ pairs: Pairs, _ isQuick: Bool) -> Section {
    let count = 5_000
    return Section(
      name: "throughput", title: "Through the broker, at most \(window) on their way, events a second",
      rounds: isQuick ? 3 : 61, judgements: LinkQuality.allCases.map { ratio(row($0), .atLeast, 0.8) },
      note: spread
    ) {
      pairs.all.map { pair in
        Contestant(pair.column, row: row(pair.quality)) {
          let start = link_clock()
          try pair.send(through: pair.meter.count + count, window: window)
          return Double(count) * 1e9 / Double(link_clock() - start)
        }
      }
    }
  }

  /// What an event costs, which other programs on the machine disturb less than its time.
  @MainActor static func processorTime(_ pairs: Pairs, _ broker: BenchmarkBroker, _ isQuick: Bool) -> Section {
    let count = isQuick ? 5_000 : 20_000
    return Section(
      name: "processor", title: "Processor time of an event, both sides and the broker, µs",
      rounds: isQuick ? 3 : 15, note: spread
    ) {
      (pairs.links + pairs.plain).map { (pair: any Pair) in
        Contestant(pair.column, row: row(pair.quality)) {
          let start = broker.processorTime
          try pair.send(through: pair.meter.count + count, window: window)
          return (broker.processorTime - start) / Double(count)
        }
      }
    }
  }

  /// One event at a time, from its post until the receiver has it.
  @MainActor static func latency(_ pairs: Pairs, _ isQuick: Bool) -> Section {
    let count = 100
    return Section(
      name: "latency", title: "One event at a time, from the post until it has arrived, µs by the clock, medians",
      rounds: isQuick ? 3 : 101, judgements: LinkQuality.allCases.map { ratio(row($0), .atMost, 1.3) },
      note: spread
    ) {
      pairs.all.map { pair in
        Contestant(pair.column, row: row(pair.quality)) {
          let times = try (0..<count).map { _ in
            let (number, start) = (pair.meter.count + 1, link_clock())
            try pair.send(through: number, window: window)
            return Double(try pair.meter.wait(for: number, pair.column) - start) / 1_000
          }
          return Samples(times).median ?? 0
        }
      }
    }
  }

  /// What a post costs its poster.
  @MainActor static func posters(_ pairs: Pairs, _ isQuick: Bool) -> Section {
    let count = 200
    return Section(
      name: "posters", title: "A post, ns of its thread's processor time", rounds: isQuick ? 15 : 101,
      judgements: LinkQuality.allCases.map { quality in
        Judgement(row(quality), "ns more", .atMost, 1_000) {
          guard let shared = $0.median(row(quality), Column.shared),
            let local = $0.median(row(quality), Column.notShared)
          else { return nil }
          return shared - local
        }
      }, hasAbsoluteBounds: true
    ) {
      pairs.links.filter { $0.column == Column.link }.flatMap { pair in
        let bus = EventBus()
        return [
          Contestant(Column.shared, row: row(pair.quality)) {
            let first = pair.meter.count + 1
            let time = Stopwatch.threadTime {
              for number in first..<first + count { pair.bus.post(OrderPlaced(id: number)) }
            }
            try pair.meter.wait(for: first + count - 1, Column.shared)
            return time.nanoseconds / Double(count)
          },
          Contestant(Column.notShared, row: row(pair.quality)) {
            let time = Stopwatch.threadTime { for number in 0..<count { bus.post(OrderPlaced(id: number)) } }
            return time.nanoseconds / Double(count)
          },
        ]
      }
    }
  }
}

extension Column {
  static let shared = "shared"
  static let notShared = "local"
}

private func row(_ quality: LinkQuality) -> String { quality == .atMostOnce ? "at most once" : "at least once" }

/// The link's figures as multiples of the plain program's in the same rounds.
private func ratios(_ results: Results, _ row: String) -> Samples? {
  guard let link = results[row, Column.link], let plain = results[row, Column.plain] else { return nil }
  return link.ratios(to: plain)
}

private func ratio(_ row: String, _ side: Judgement.Side, _ bound: Double) -> Judgement {
  Judgement(row, "× \(Column.plain), median of rounds", side, bound) { ratios($0, row)?.median }
}

/// How far the rounds lie apart.
private func spread(_ results: Results) -> String? {
  results.rows.compactMap { row in
    guard let ratios = ratios(results, row), let least = ratios.minimum, let most = ratios.maximum else { return nil }
    return "\(row): in single rounds \(Table.format(least)) to \(Table.format(most)) × \(Column.plain)"
  }.joined(separator: "\n")
}
