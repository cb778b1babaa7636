import AttackCore
import Glibc
import ProgramOptions
import PseudoTerminal

/// Attacks the example programs for a given time.
@main enum Attack {
  static func main() async {
    do {
      let options = try Options(
        Array(CommandLine.arguments.dropFirst()), environment: { name in getenv(name).map { String(cString: $0) } })
      if options.wantsHelp { return say(Options.help) }
      exit(await run(options) ? 0 : 1)
    } catch {
      say("Attack: \(error.sentence)")
      exit(2)
    }
  }

  private static func run(_ options: Options) async -> Bool {
    var choices = await installed()
    choices.longestStall = options.longestStall
    say("seed \(options.seed), stalls up to \(choices.longestStall) ms")
    let generator = RoundGenerator(seed: options.seed, choices: choices, isPlain: options.isPlain)
    if let number = options.round {
      return await play(generator.round(number), options).isRight
    }
    let start = ContinuousClock.now
    var tally = Tally()
    var broken: [Int] = []
    await withTaskGroup(of: Played.self) { group in
      var (next, running) = (0, 0)
      while true {
        let mayBegin =
          (broken.isEmpty || options.keepsGoing) && next < options.rounds
          && ContinuousClock.now - start < .seconds(options.seconds)
        if mayBegin, running < options.atOnce {
          let round = generator.round(next)
          group.addTask { await play(round, options) }
          (next, running) = (next + 1, running + 1)
          continue
        }
        guard let played = await group.next() else { break }
        running -= 1
        tally.add(played.round)
        if !played.isRight { broken.append(played.round.number) }
      }
    }
    say(
      "\(tally.rounds) rounds in \((ContinuousClock.now - start).components.seconds) s, of which were drawn:\n\(tally)")
    if !broken.isEmpty { say("broken: \(broken.sorted().map(String.init).joined(separator: ", "))") }
    return broken.isEmpty
  }

  private struct Played: Sendable {
    let round: Round
    let isRight: Bool
  }

  /// Plays a round and prints what is wrong with it.
  private static func play(_ round: Round, _ options: Options) async -> Played {
    say("seed \(options.seed), round \(round)")
    let violations: [String]
    do {
      violations = Judge.violations(of: round, seen: try await seen(of: round))
    } catch {
      violations = ["the round could not be played: \(error)"]
    }
    if !violations.isEmpty {
      let choice =
        "--seed \(options.seed) --round \(round.number) --longest-stall \(options.longestStall)"
        + (options.isPlain ? " --plain" : "")
      say("In round \(round.number), repeat with \(choice):")
      for violation in violations { say("  \(violation)") }
    }
    return Played(round: round, isRight: violations.isEmpty)
  }

  /// How often a round is played whose signals the machine sends too late.
  private static let attempts = 5

  /// Plays a round, again if the machine was too slow for what the round says.
  private static func seen(of round: Round) async throws -> Observation {
    for _ in 1..<attempts {
      let seen = try await RoundPlayer(round).play()
      if !seen.isOutOfTime { return seen }
      say("\(round.number) is played again: the machine sent the signals too late")
    }
    return try await RoundPlayer(round).play()
  }

  /// The shells and wrappers of this machine; says what it leaves out.
  private static func installed() async -> RoundGenerator.Choices {
    let shells = Shell.allCases.filter(\.isInstalled)
    var wrappers = Round.Wrapper.allCases.filter { $0.neededProgram.map { installedProgram($0) != nil } ?? true }
    if wrappers.contains(.strace) {
      let trial = try? await runProgram(["strace", "-f", "-o", "/dev/null", "true"])
      if trial?.ending != .exited(0) { wrappers.removeAll { $0 == .strace } }
    }
    let missing =
      Shell.allCases.filter { !shells.contains($0) }.map(\.rawValue)
      + Round.Wrapper.allCases.filter { !wrappers.contains($0) }.map(\.rawValue)
    if !missing.isEmpty {
      say("left out, as they are not installed or not allowed: \(missing.joined(separator: ", "))")
    }
    var choices = RoundGenerator.Choices(shells: shells, wrappers: wrappers)
    for (condition, reason) in await Surroundings.impossible() {
      choices.impossible.insert(condition)
      say("left out: \(condition): \(reason)")
    }
    do {
      try shiftClock(nanoseconds: 1)
      try shiftClock(nanoseconds: -1)
    } catch {
      choices.setsClock = false
      say("left out: setting the clock: \(error)")
    }
    return choices
  }
}

/// Prints text and a line's end, at once, also into a file.
private func say(_ text: String) {
  print(text)
  fflush(nil)
}
