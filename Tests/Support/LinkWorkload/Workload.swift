import PubSub
import Scheduling

// What the processes of a test post, and how each counts what it gets.

/// One of the events that are counted.
package struct Tick: BusEvent, Codable {
  package let from: Int
  package let number: Int

  package init(from: Int, number: Int) { (self.from, self.number) = (from, number) }

  /// The topic of the ticks of a process.
  package static func topic(of process: Int) -> String { "test/ticks/\(process)" }

  /// The processes whose ticks come to a process, one of so many: the next four.
  package static func senders(to process: Int, of count: Int) -> [Int] {
    (1..<max(1, min(count, 5))).map { (process + $0) % count }
  }
}

/// Asks every process to post so many ticks more.
package struct Go: BusEvent, Codable {
  package let ticks: Int

  package init(ticks: Int) { self.ticks = ticks }
}

/// Asks every process for its tally; the number names the question.
package struct Question: BusEvent, Codable {
  package let number: Int

  package init(number: Int) { self.number = number }
}

/// What one process has posted and received.
package struct Tally: BusEvent, Codable {
  package var question = 0
  package var from = 0
  package var posted = 0
  /// How many ticks came from each process.
  package var received: [Int: Int] = [:]
  /// The number of the latest tick of each process.
  package var latest: [Int: Int] = [:]
  /// How many ticks were reported as missed.
  package var missed = 0
  /// How many ticks of this process were dropped before they were sent.
  package var dropped = 0
  /// Ticks that came twice or in the wrong order, in words; the first few.
  package var wrong: [String] = []

  package init() {}
}

/// Counts the ticks that come to a bus.
package final class Counter: Sendable {
  private struct State {
    var tally = Tally()
    /// The ticks that were reported as missed since the latest one: the next one comes after so many.
    var missed = 0
  }

  private let state = Guarded(State())

  package init() {}

  package var tally: Tally { state.withLock { $0.tally } }

  package func change(_ body: @Sendable (inout Tally) -> Void) { state.withLock { body(&$0.tally) } }

  package func count(_ tick: Tick) {
    state.withLock { state in
      let last = state.tally.latest[tick.from] ?? 0
      if tick.number != last + state.missed + 1, state.tally.wrong.count < 5 {
        state.tally.wrong.append("\(tick.number) after \(last) of \(tick.from) and \(state.missed) that were missed")
      }
      state.missed = 0
      state.tally.latest[tick.from] = max(last, tick.number)
      state.tally.received[tick.from, default: 0] += 1
    }
  }

  package func miss(_ count: Int) {
    state.withLock { state in
      state.tally.missed += count
      state.missed += count
    }
  }
}
