import AttackCore
import PseudoTerminal
import Testing

@Suite struct RoundGeneratorTests {
  private let rounds = (0..<4_000).map { RoundGenerator(seed: 7, choices: .init(), isPlain: true).round($0) }
  private let hard = (0..<4_000).map { RoundGenerator(seed: 7, choices: .init()).round($0) }

  @Test func `The same seed and number give the same round, in any order`() {
    let generator = RoundGenerator(seed: 7, choices: .init())
    for number in [3_999, 0, 17] {
      #expect(generator.round(number) == hard[number])
      #expect(generator.round(number).description == hard[number].description)
    }
  }

  @Test func `Other seeds and numbers give other rounds`() {
    let other = (0..<4_000).map { RoundGenerator(seed: 8, choices: .init(), isPlain: true).round($0) }
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
      switch round.ending {
      case .fatal(let signal, let second): kinds.formUnion([signal, second?.signal].compactMap { $0?.name })
      case .order(let signal, _, _, _), .orphaned(let signal): kinds.insert(signal.name)
      default: break
      }
    }
    #expect(kinds.isSuperset(of: Shell.allCases.map(\.rawValue)))
    #expect(kinds.isSuperset(of: Round.Wrapper.allCases.map(\.rawValue)))
    #expect(kinds.isSuperset(of: ["PregTracker", "Quickstart"]))
    #expect(kinds.isSuperset(of: (Signal.fatal + Signal.orders).map(\.name)))
    #expect(kinds.isSuperset(of: ["date", "resize", "paste", "keys", "stall", "stop"]))
    #expect(
      kinds.isSuperset(of: [
        "q", "Ctrl-C", "Ctrl-\\", "fatal signal", "two fatal signals", "SIGKILL", "stalled", "hang-up",
        "order to the program", "order to the program, repeated", "order to the wrapper", "order to the group",
        "order to the group, repeated", "order to the wrapper alone", "SIGHUP and SIGCONT to the program",
        "SIGHUP and SIGCONT to the wrapper", "SIGHUP and SIGCONT to the group", "SIGHUP and SIGCONT, stopped",
      ]))
  }

  @Test func `Everything is drawn that programs find, too`() {
    var kinds: Set<String> = []
    for round in hard {
      kinds.formUnion([round.program.rawValue, round.ending.kind])
      kinds.formUnion(round.steps.map(\.description))
      kinds.formUnion(round.conditions.map(\.description))
      if case .volley(let shots) = round.ending { kinds.formUnion(shots.map(\.signal.name)) }
    }
    #expect(kinds.isSuperset(of: Round.Program.allCases.map(\.rawValue)))
    #expect(kinds.isSuperset(of: Condition.all.map(\.description)))
    #expect(kinds.isSuperset(of: PseudoTerminal.ModeChange.allCases.map { Step.changeModes($0).description }))
    #expect(
      kinds.isSuperset(of: [
        "volley", "clock set", "standstill by SIGSTOP, fg", "lend to a child", "lend to a child that stays",
        "lend to a child in a group of its own", "SIGTERM", "SIGINT", "SIGHUP", "SIGTSTP", "SIGSTOP", "SIGCONT",
        "SIGQUIT",
      ]))
  }

  /// The seeds that found something are tests: they mean the same rounds as long as the program exists.
  @Test func `A plain round is as the first version of the attack drew it`() {
    let generator = RoundGenerator(
      seed: 1_532_888_862_284_650_844, choices: .init(longestStall: 3_000), isPlain: true)
    #expect(
      generator.round(141).description
        == "141: PregTracker in dash, script, 22x97: SIGHUP and SIGCONT to the group, 20 times")
    let other = RoundGenerator(
      seed: 10_712_190_646_660_676_047, choices: .init(longestStall: 3_000), isPlain: true)
    #expect(
      other.round(54).description
        == "54: PregTracker in fish, python, 53x80: keys focusReports; stop by key, fg; paste 10 bytes plain; "
        + "date 2027-02-12; resize 200 times through 53x78 32x149; SIGTERM to the group, 2 times")
  }

  @Test func `What is not possible here is not drawn`() {
    let choices = RoundGenerator.Choices(impossible: Set(Condition.all.filter { $0 != .blocked }), setsClock: false)
    let generator = RoundGenerator(seed: 7, choices: choices)
    for round in (0..<1_000).map(generator.round) {
      #expect(round.conditions.isSubset(of: [.blocked]))
      #expect(!round.steps.contains(.setClock))
    }
  }

  @Test func `Conditions hold beside each other, and each volley ends every program`() {
    for round in hard {
      for condition in round.conditions {
        var rest = round
        rest.conditions.remove(condition)
        #expect(condition.fits(rest))
      }
      if case .volley(let shots) = round.ending { #expect(shots.contains { $0.signal == .terminate }) }
    }
  }

  /// A second signal meets the first one's handler: the time between them is short, and the order of the two is any.
  @Test func `A second fatal signal comes within a few milliseconds`() {
    let pairs = rounds.compactMap { round -> (Signal, Ending.Second)? in
      if case .fatal(let first, let second?) = round.ending { (first, second) } else { nil }
    }
    #expect(pairs.count > 100)
    #expect(pairs.allSatisfy { $1.pause <= 5_000 })
    #expect(pairs.contains { $1.pause == 0 } && pairs.contains { $1.pause > 0 })
    #expect(pairs.contains { $0 == $1.signal } && pairs.contains { $0 != $1.signal })
  }

  @Test func `Only SIGHUP is followed by SIGCONT`() {
    let orders = rounds.compactMap { round -> (Signal, Bool)? in
      if case .order(let signal, _, _, let continues) = round.ending { (signal, continues) } else { nil }
    }
    #expect(orders.contains { $0 == .hangUp && $1 } && orders.contains { $0 == .hangUp && !$1 })
    #expect(orders.allSatisfy { $0 == .hangUp || !$1 })
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

  @Test func `What a wrapper gets alone is what it does with that`() {
    for round in rounds {
      switch round.ending {
      case .order(let signal, .wrapper, _, _): #expect(round.wrapper.answer(to: signal) == .forwards)
      case .orphaned(let signal): #expect(round.wrapper.answer(to: signal) == .ends)
      default: break
      }
    }
  }

  /// Python's wrapper kills the program soon after a SIGINT.
  @Test func `No wrapper gets a signal after which it kills the program`() {
    let wrapped = rounds.filter {
      switch $0.ending {
      case .order(.interrupt, .group, _, _): true
      default: false
      }
    }
    #expect(wrapped.contains { $0.wrapper == .script })
    #expect(wrapped.allSatisfy { $0.wrapper != .python })
  }

  @Test func `A group whose wrapper ends first gets every order that ends it`() {
    let signals = rounds.compactMap { round -> Signal? in
      if case .order(let signal, .group, _, _) = round.ending, round.wrapperEndsFirst { signal } else { nil }
    }
    #expect(Set(signals) == Set(Signal.orders.filter { $0 != .interrupt }))
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
    #expect(tally.description.split(separator: "\n").count == 6)
  }
}
