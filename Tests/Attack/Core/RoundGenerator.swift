import Glibc
package import PseudoTerminal
import PubSub

/// Draws rounds: the same seed and the same choices give the same rounds, one by one and in any order.
package struct RoundGenerator: Sendable {
  /// What there is to draw from.
  package struct Choices: Sendable {
    /// The shells that are installed.
    package var shells: [Shell]
    /// The wrappers that are installed.
    package var wrappers: [Round.Wrapper]
    /// The longest stall in milliseconds.
    package var longestStall: Int

    package init(
      shells: [Shell] = Shell.allCases, wrappers: [Round.Wrapper] = Round.Wrapper.allCases, longestStall: Int = 30_000
    ) {
      self.shells = shells
      self.wrappers = wrappers
      self.longestStall = longestStall
    }
  }

  private let seed: UInt64
  private let choices: Choices

  package init(seed: UInt64, choices: Choices) {
    self.seed = seed
    self.choices = choices
  }

  /// The round of this number.
  package func round(_ number: Int) -> Round {
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

extension Signal {
  package static let interrupt = Signal(SIGINT, "SIGINT")
  package static let hangUp = Signal(SIGHUP, "SIGHUP")

  /// The orders to end.
  package static let orders = [Signal(SIGTERM, "SIGTERM"), interrupt, hangUp]

  /// Signals whose default ends a process and that are no orders, crashes among them.
  ///
  /// Without SIGXFSZ, which PregTracker ignores.
  package static let fatal =
    [
      Signal(SIGQUIT, "SIGQUIT"), Signal(SIGUSR1, "SIGUSR1"), Signal(SIGUSR2, "SIGUSR2"), Signal(SIGALRM, "SIGALRM"),
      Signal(SIGVTALRM, "SIGVTALRM"),
      Signal(SIGPROF, "SIGPROF"), Signal(SIGXCPU, "SIGXCPU"), Signal(SIGPOLL, "SIGPOLL"),
      Signal(SIGPWR, "SIGPWR"), Signal(SIGSTKFLT, "SIGSTKFLT"), Signal(SIGABRT, "SIGABRT"), Signal(SIGSEGV, "SIGSEGV"),
      Signal(SIGBUS, "SIGBUS"), Signal(SIGFPE, "SIGFPE"),
      // glibc keeps 32 and 33 for itself.
    ] + [34, 35, 50, 63, 64].map { Signal($0, "signal \($0)") }
}
