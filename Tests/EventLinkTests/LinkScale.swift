#if MQTT
  import EventLink
  import Glibc
  import LinkWorkload
  import PseudoTerminal
  import Scheduling

  /// How many processes and events a test with a broker has; more with `LINK_PROCESSES` and `LINK_TICKS`.
  struct LinkScale {
    let processes = Environment.variable("LINK_PROCESSES").flatMap { Int($0) } ?? 5
    /// The events that each process posts.
    let ticks = Environment.variable("LINK_TICKS").flatMap { Int($0) } ?? 1_000
    private let isLarge = Environment.variable("LINK_TICKS") != nil

    /// The parts in which events are posted that nothing else slows down; a multiple of five.
    var rounds: Int { max(1, ticks / 10_000) * 5 }

    /// Bounds failure.
    var patience: Duration { .seconds(120 + processes * ticks / 200) }

    /// So much that the connection of each process is damaged a few times; what is sent again is damaged, too.
    func damage(_ harm: ConnectionHarm, _ quality: LinkQuality) -> DamagingProxy.Damage {
      let distance = max(100_000, senders(to: 0).count * ticks * 250) / (quality == .atLeastOnce ? 1 : 4)
      return switch harm {
      case .cuts: .tail(every: distance)
      case .lostBytes: .bytes(every: distance)
      }
    }

    /// The processes whose events come to a process.
    func senders(to process: Int) -> [Int] { Tick.senders(to: process, of: processes) }

    /// Whether each process has all events that come to it.
    func allHave(_ count: Int, _ tallies: [Int: Tally]) -> Bool {
      tallies.count == processes
        && tallies.values.allSatisfy { tally in
          tally.posted == count
            && senders(to: tally.from).allSatisfy { tally.received[$0] == count }
        }
    }

    /// Stops a broker for a while; on a large scale until all links have given it up.
    @MainActor func stop(_ server: ChildProcess, _ observatory: Observatory) async throws {
      server.signal(SIGSTOP)
      if isLarge {
        try await observatory.until("the link is cut") { _ in !observatory.fleet.isCurrent }
      } else {
        await observatory.untilSomethingHappens()
      }
      server.signal(SIGCONT)
    }
  }

  /// What happens to the connections of a test.
  enum ConnectionHarm: CaseIterable {
    /// They lose their ends.
    case cuts
    /// They are encrypted, and lose single bytes.
    case lostBytes
  }
#endif

import Scheduling

/// The seed of a test at random: `SEED`, or a new one.
func chosenSeed() -> UInt64 {
  Environment.variable("SEED").flatMap { UInt64($0) } ?? .random(in: 0 ... .max)
}
