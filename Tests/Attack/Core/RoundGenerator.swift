import Glibc
package import PseudoTerminal
import Scheduling

/// Draws rounds: the same seed and the same choices give the same rounds, one by one and in any order.
package struct RoundGenerator: Sendable {
  /// What there is to draw from.
  package struct Choices: Sendable {
    /// The shells that are installed.
    package var shells: [Shell]
    /// The wrappers that are installed.
    package var wrappers: [Round.Wrapper]
    /// What this machine allows no program.
    package var impossible: Set<Condition>
    /// Whether the machine's clock may be set.
    package var setsClock: Bool
    /// The longest stall in milliseconds.
    package var longestStall: Int

    package init(
      shells: [Shell] = Shell.allCases, wrappers: [Round.Wrapper] = Round.Wrapper.allCases,
      impossible: Set<Condition> = [], setsClock: Bool = true, longestStall: Int = 30_000
    ) {
      self.shells = shells
      self.wrappers = wrappers
      self.impossible = impossible
      self.setsClock = setsClock
      self.longestStall = longestStall
    }
  }

  private let seed: UInt64
  private let choices: Choices
  private let isPlain: Bool

  /// A generator.
  ///
  /// - Parameters:
  ///   - seed: What all rounds depend on.
  ///   - choices: What there is to draw from.
  ///   - isPlain: Whether nothing is drawn but what the first version of the attack drew: a seed that it found something with
  ///     means the same rounds then.
  package init(seed: UInt64, choices: Choices, isPlain: Bool = false) {
    (self.seed, self.choices, self.isPlain) = (seed, choices, isPlain)
  }

  /// The round of this number.
  package func round(_ number: Int) -> Round {
    var round = plainRound(number)
    guard !isPlain else { return round }
    // A second generator: what the first one draws is as without it.
    var mixer = SplitMix64(seed: ~UInt64(number))
    var random = SplitMix64(seed: seed ^ mixer.next())
    harden(&round, &random)
    return round
  }

  private func plainRound(_ number: Int) -> Round {
    // Neighbours must not be alike: the number goes through the generator, too.
    var mixer = SplitMix64(seed: UInt64(number))
    var random = SplitMix64(seed: seed ^ mixer.next())
    let program: Round.Program = Int.random(in: 0..<5, using: &random) == 0 ? .quickstart : .pregTracker
    let shell = choices.shells.randomElement(using: &random)!
    let wrapper = choices.wrappers.randomElement(using: &random)!
    let size = Round.Size(rows: .random(in: 20...60, using: &random), columns: .random(in: 60...160, using: &random))
    var steps: [Step] = []
    for _ in 0..<Int.random(in: 0...5, using: &random) {
      let step = step(of: program, &random)
      // A date that is on the screen already could not be seen to be set.
      if case .setDate = step, steps.contains(step) || step == .setDate(Round.firstDate) { continue }
      steps.append(step)
    }
    return Round(
      number: number, program: program, shell: shell, wrapper: wrapper, size: size, steps: steps,
      ending: ending(under: wrapper, &random))
  }

  private func step(of program: Round.Program, _ random: inout SplitMix64) -> Step {
    // Quickstart answers no key but `q`, so that it could not be seen whether it has read the others: sizes instead of them.
    let kind = Int.random(in: 0..<13, using: &random)
    switch program == .quickstart && kind < 8 ? 3 : kind {
    case 0, 1, 2:
      // A date for each: it is seen which one was kept.
      let (month, day) = (Int.random(in: 1...12, using: &random), Int.random(in: 1...28, using: &random))
      return .setDate("2027-\(month < 10 ? "0" : "")\(month)-\(day < 10 ? "0" : "")\(day)")
    case 3, 4:
      let sizes = (0..<Int.random(in: 1...4, using: &random)).map { _ in
        Round.Size(rows: .random(in: 1...80, using: &random), columns: .random(in: 1...200, using: &random))
      }
      return .resize(count: [1, 10, 200].randomElement(using: &random)!, sizes)
    case 5, 6:
      let paste = Step.Paste.allCases.randomElement(using: &random)!
      return .paste(paste, count: [10, 500, 3_000].randomElement(using: &random)!)
    case 7: return .keys(Step.Keys.allCases.randomElement(using: &random)!)
    case 8: return .stall(milliseconds: stall(&random), isFull: .random(using: &random))
    default:
      let stop: Step.Stop = Int.random(in: 0..<3, using: &random) == 0 ? .signal : .key
      return .suspend(stop, byBackground: Int.random(in: 0..<4, using: &random) == 0)
    }
  }

  private func ending(under wrapper: Round.Wrapper, _ random: inout SplitMix64) -> Ending {
    switch Int.random(in: 0..<20, using: &random) {
    case 0, 1: return .quit
    case 2, 3: return .interrupt
    case 4, 5, 6, 7, 8, 9: return order(under: wrapper, &random)
    case 10:
      let ending = Signal.orders.filter { wrapper.answer(to: $0) == .ends }
      return ending.randomElement(using: &random).map(Ending.orphaned) ?? order(under: wrapper, &random)
    case 11: return .hangUpStopped
    case 12: return .quitKey
    case 13, 14: return .fatal(fatal(&random))
    case 15, 16: return .fatal(fatal(&random), then: second(&random))
    case 17: return .kill
    case 18:
      return .stalled(Ending.Order.allCases.randomElement(using: &random)!, milliseconds: stall(&random))
    default: return .hangUp
    }
  }

  private func order(under wrapper: Round.Wrapper, _ random: inout SplitMix64) -> Ending {
    let signal = Signal.orders.randomElement(using: &random)!
    let continues = signal == .hangUp && Bool.random(using: &random)
    let targets: [Ending.Target] =
      switch wrapper.answer(to: signal) {
      case .forwards: Ending.Target.allCases
      // Without a wrapper the parent is the shell. A wrapper that ends and tells the program nothing is an ending of its own.
      case .none, .ignores, .endsLater, .ends: [.program, .group]
      case .kills: [.program]
      }
    let target = targets.randomElement(using: &random)!
    // SIGHUP never counts as a second order; the others do not within half a second.
    return .order(signal, to: target, count: [1, 1, 2, 20].randomElement(using: &random)!, continues: continues)
  }

  private func fatal(_ random: inout SplitMix64) -> Signal { Signal.fatal.randomElement(using: &random)! }

  private func second(_ random: inout SplitMix64) -> Ending.Second {
    Ending.Second(fatal(&random), after: [0, 20, 100, 500, 5_000].randomElement(using: &random)!)
  }

  private func stall(_ random: inout SplitMix64) -> Int {
    // The short ones more often: an hour has room for few of half a minute.
    [50, 50, 250, 250, 250, 1_000, 1_000, 3_000, 8_000, 30_000].filter { $0 <= choices.longestStall }
      .randomElement(using: &random)!
  }
}

extension RoundGenerator {
  /// Adds what the first version of the attack did not know.
  private func harden(_ round: inout Round, _ random: inout SplitMix64) {
    switch Int.random(in: 0..<10, using: &random) {
    case 0, 1, 2: round.program = .probe
    case 3, 4: round.program = .service
    default: break
    }
    adapt(&round)
    for _ in 0..<Int.random(in: 0...2, using: &random) {
      let index = Int.random(in: 0...round.steps.count, using: &random)
      if let step = hardStep(of: round, &random) { round.steps.insert(step, at: index) }
    }
    if Int.random(in: 0..<3, using: &random) == 0 { round.ending = volley(&random, under: round.wrapper) }
    // strace waits for the child.
    let isLent = Int.random(in: 0..<4, using: &random) == 0 && round.program == .probe && round.wrapper != .strace
    if isLent, let ending = endingOfLoan(&random) {
      round.steps.append(.lend(ownGroup: .random(using: &random), ends: false))
      round.ending = ending
    }
    for _ in 0..<Int.random(in: 0...3, using: &random) {
      let condition = Condition.all.randomElement(using: &random)!
      if condition.fits(round), !choices.impossible.contains(condition) { round.conditions.insert(condition) }
    }
  }

  /// Leaves out what the round's program cannot show.
  private func adapt(_ round: inout Round) {
    let program = round.program
    guard program == .probe || program == .service else { return }
    round.steps.removeAll { step in
      switch step {
      case .setDate, .paste, .keys: true
      case .stall: program == .service
      default: false
      }
    }
    guard program == .service else { return }
    // Nothing is seen of a service in the background that comes to the foreground.
    round.steps = round.steps.map {
      if case .suspend(let stop, _) = $0 { .suspend(stop, byBackground: false) } else { $0 }
    }
    // The system stops a service, and strace with it, which then passes nothing on.
    if round.wrapper == .strace { round.wrapper = .none }
    switch round.ending {
    // It reads no keys, and a SIGHUP makes it read its configuration.
    case .quit, .stalled, .hangUpStopped, .orphaned, .order(.hangUp, _, _, _):
      round.ending = .order(.terminate, to: .program, count: 1)
    // Where the terminal makes signals of keys, wrappers get them, too.
    case .interrupt where round.wrapper != .none, .quitKey where round.wrapper != .none:
      round.ending = .order(.terminate, to: .program, count: 1)
    case .interrupt, .order, .quitKey, .fatal, .kill, .hangUp, .volley: break
    }
  }

  private func hardStep(of round: Round, _ random: inout SplitMix64) -> Step? {
    switch Int.random(in: 0..<6, using: &random) {
    case 0: choices.setsClock ? .setClock : nil
    case 1, 2:
      round.program.hasScreen ? .changeModes(PseudoTerminal.ModeChange.allCases.randomElement(using: &random)!) : nil
    // A stopped strace holds the program, too.
    case 3: round.wrapper == .strace ? nil : .standstill
    default: round.program == .probe ? .lend(ownGroup: .random(using: &random), ends: true) : nil
    }
  }

  /// Orders, stops and continuations, among them at least one order that ends every program.
  private func volley(_ random: inout SplitMix64, under wrapper: Round.Wrapper) -> Ending {
    let toGroup = wrapper == .none
    let stops: [Signal] = wrapper == .strace ? [] : [.stop, .stop, .pause, .pause]
    var shots = (0..<Int.random(in: 0...4, using: &random)).map { _ in
      shot(stops + [.terminate, .interrupt, .hangUp, .continue, .quit], &random, toGroup)
    }
    let index = Int.random(in: 0...shots.count, using: &random)
    shots.insert(shot([.terminate], &random, toGroup), at: index)
    return .volley(shots)
  }

  private func shot(_ signals: [Signal], _ random: inout SplitMix64, _ toGroup: Bool) -> Ending.Shot {
    // The long ones leave a program stopped, or in the middle of its tear-down, for as long as people notice.
    let pauses = [0, 0, 200, 2_000, 20_000, 20_000, 100_000, 100_000, 400_000, 1_500_000]
    return Ending.Shot(
      signals.randomElement(using: &random)!, count: [1, 1, 2, 10].randomElement(using: &random)!,
      toGroup: Bool.random(using: &random) && toGroup, after: pauses.randomElement(using: &random)!)
  }

  /// An ending that does not need the terminal, which a child has.
  private func endingOfLoan(_ random: inout SplitMix64) -> Ending? {
    let signals: [Signal] = [.terminate, .hangUp] + Signal.fatal.prefix(2)
    let signal = signals.randomElement(using: &random)!
    return Signal.orders.contains(signal) ? .order(signal, to: .program, count: 1) : .fatal(signal)
  }
}

extension Signal {
  package static let terminate = Signal(SIGTERM, "SIGTERM")
  package static let interrupt = Signal(SIGINT, "SIGINT")
  package static let hangUp = Signal(SIGHUP, "SIGHUP")
  package static let quit = Signal(SIGQUIT, "SIGQUIT")
  package static let stop = Signal(SIGTSTP, "SIGTSTP")
  /// It stops a process whatever that process does.
  package static let pause = Signal(SIGSTOP, "SIGSTOP")
  package static let `continue` = Signal(SIGCONT, "SIGCONT")

  /// The orders to end.
  package static let orders = [terminate, interrupt, hangUp]

  /// Signals whose default ends a process and that are no orders, crashes among them.
  ///
  /// Without SIGXFSZ, which PregTracker ignores.
  package static let fatal =
    [
      quit, Signal(SIGUSR1, "SIGUSR1"), Signal(SIGUSR2, "SIGUSR2"), Signal(SIGALRM, "SIGALRM"),
      Signal(SIGVTALRM, "SIGVTALRM"),
      Signal(SIGPROF, "SIGPROF"), Signal(SIGXCPU, "SIGXCPU"), Signal(SIGPOLL, "SIGPOLL"),
      Signal(SIGPWR, "SIGPWR"), Signal(SIGSTKFLT, "SIGSTKFLT"), Signal(SIGABRT, "SIGABRT"), Signal(SIGSEGV, "SIGSEGV"),
      Signal(SIGBUS, "SIGBUS"), Signal(SIGFPE, "SIGFPE"),
      // glibc keeps 32 and 33 for itself.
    ] + [34, 35, 50, 63, 64].map { Signal($0, "signal \($0)") }
}
