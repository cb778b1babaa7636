import AttackCore
import PseudoTerminal
import Testing

@Suite struct RoundGeneratorTests {
  private let rounds = (0..<4_000).map { RoundGenerator(seed: 7, choices: .init()).round($0) }

  @Test func `The same seed and number give the same round, in any order`() {
    let generator = RoundGenerator(seed: 7, choices: .init())
    for number in [3_999, 0, 17] {
      #expect(generator.round(number) == rounds[number])
      #expect(generator.round(number).description == rounds[number].description)
    }
  }

  @Test func `Other seeds and numbers give other rounds`() {
    let other = (0..<4_000).map { RoundGenerator(seed: 8, choices: .init()).round($0) }
    #expect(Set(rounds.map { script($0) }).count > 3_000)
    #expect(zip(rounds, other).count { script($0) == script($1) } < 400)
  }

  /// The round's text without its number.
  private func script(_ round: Round) -> Substring { round.description.drop { $0 != ":" } }

  @Test func `Everything is drawn`() {
    var kinds: Set<String> = []
    for round in rounds {
      kinds.formUnion([round.shell.rawValue, round.wrapper.rawValue, round.program.rawValue, round.ending.kind])
      kinds.formUnion(round.steps.map(\.kind))
      if case .fatal(let signal) = round.ending { kinds.insert(signal.name) }
      if case .order(let signal, _, _) = round.ending { kinds.insert(signal.name) }
    }
    #expect(kinds.isSuperset(of: Shell.allCases.map(\.rawValue)))
    #expect(kinds.isSuperset(of: Round.Wrapper.allCases.map(\.rawValue)))
    #expect(kinds.isSuperset(of: Round.Program.allCases.map(\.rawValue)))
    #expect(kinds.isSuperset(of: (Signal.fatal + Signal.orders).map(\.name)))
    #expect(kinds.isSuperset(of: ["date", "resize", "paste", "keys", "stall", "stop"]))
    #expect(
      kinds.isSuperset(of: [
        "q", "Ctrl-C", "Ctrl-\\", "fatal signal", "SIGKILL", "stalled", "hang-up", "order to the program",
        "order to the program, repeated", "order to the wrapper", "order to the group",
      ]))
  }

  @Test func `Only what is installed is drawn, and no longer stall than allowed`() {
    let choices = RoundGenerator.Choices(shells: [.dash], wrappers: [.none, .timeout], longestStall: 250)
    let generator = RoundGenerator(seed: 7, choices: choices)
    for round in (0..<1_000).map(generator.round) {
      #expect(round.shell == .dash)
      #expect([.none, .timeout].contains(round.wrapper))
      for step in round.steps { if case .stall(let length, _) = step { #expect(length <= 250) } }
      if case .stalled(_, let length) = round.ending { #expect(length <= 250) }
    }
  }

  @Test func `Only wrappers that forward signals get them`() {
    for round in rounds {
      guard case .order(_, let target, _) = round.ending, target != .program else { continue }
      #expect(round.wrapper.forwardsSignals)
    }
  }

  @Test func `Dates are PregTracker's, and each can be told from the one before`() {
    for round in rounds {
      let dates = round.steps.compactMap { if case .setDate(let date) = $0 { date } else { nil } }
      #expect(dates.isEmpty || round.program == .pregTracker)
      #expect(Set(dates + [Round.firstDate]).count == dates.count + 1)
    }
  }

  /// What a program has not read when it ends is the shell's.
  @Test func `Only a program that shows what it has read is typed at`() {
    for round in rounds where round.program == .quickstart {
      #expect(round.steps.allSatisfy { ["resize", "stall", "stop"].contains($0.kind) })
    }
  }

  @Test func `The table counts each kind`() {
    var tally = Tally()
    for round in rounds.prefix(100) { tally.add(round) }
    #expect(tally.rounds == 100)
    #expect(tally.description.contains("  shell    bash \(rounds.prefix(100).count { $0.shell == .bash }), dash "))
    #expect(tally.description.split(separator: "\n").count == 5)
  }
}
