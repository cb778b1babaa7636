import AppLifecycle
public import AppLifecycleTesting
import Scheduling

/// A checker that plays many scripts on a program, and shortens the first failing script.
///
///     let checker = try ScriptChecker { run in
///       let server = ServerDouble(run.balance)
///       return SimulatedSystem(order: run.order) { AppDelegate(server) }
///     }
///     let report = try await checker.checkAll(upTo: 5)
///     #expect(report.failure == nil)
///
/// ``checkAllScripts(upTo:alphabet:allowing:sourceLocation:of:)`` and its variants record the failure as an issue. Use
/// a checker if you need only the report.
///
/// Each script is played on a new instance of the program, action by action. After each action and all resulting work,
/// the checker examines the rules of the life cycle, the balance of resources, and the test's own checks. After the
/// last action it ends the application (``RunWatch/end()``), and examines it again. The same scripts give the same
/// report.
@MainActor public struct ScriptChecker {
  /// The actions from which scripts are made, each once.
  public let alphabet: [String]

  private let actions: [Script]
  /// The kind of each action.
  private let kinds: [ScriptAction.Kind]
  private let allowed: Set<RunComplaint.Kind>
  private let make: @MainActor (ScriptRun) throws -> SimulatedSystem

  /// Makes a checker for one program.
  ///
  /// - Parameters:
  ///   - alphabet: the actions of the scripts, as a script; an action that it contains twice counts once.
  ///   - allowed: the kinds of faults that do not fail a script.
  ///   - make: makes the program under test and its system. It is called for each script, often thousands of times. The
  ///     programs must not share state with each other.
  /// - Throws: a `ScriptError` for the first mistake in the alphabet.
  public init(
    alphabet: String = ScriptAlphabet.standard, allowing allowed: Set<RunComplaint.Kind> = [],
    of make: @escaping @MainActor (ScriptRun) throws -> SimulatedSystem
  ) throws(ScriptError) {
    var known: Set<String> = []
    let all = try Script(alphabet).actions.filter { known.insert($0.token).inserted }
    self.alphabet = all.map(\.token)
    actions = all.map { Script([$0]) }
    kinds = all.map(\.kind)
    (self.allowed, self.make) = (allowed, make)
  }

  /// Plays one script.
  ///
  /// - Parameters:
  ///   - script: the script; its actions need not be in the alphabet.
  ///   - order: the order in which jobs run that are ready at the same time, such as ``ScriptFailure/order``.
  /// - Returns: the faults; empty if there are none.
  /// - Throws: a `ScriptError` for a mistake in the script, or an error of `make`.
  public func complaints(
    about script: String, order: SimulationExecutor.Order = .fifo
  ) async throws -> [RunComplaint] {
    // Each action keeps its place in the text, for errors.
    let script = try Script(script).actions.map { Script([$0]) }
    let player = try player(order, for: script)
    for action in script {
      _ = await player.play(action)
      if !player.complaints.isEmpty { return player.complaints }
    }
    await player.end()
    return player.complaints
  }

  /// Makes a player on a new instance of the program, which must have the test's own actions among these.
  private func player(_ order: SimulationExecutor.Order, for actions: [Script]) throws -> ScriptPlayer {
    try Task.checkCancellation()
    let player = try ScriptPlayer(order: order, allowing: allowed, make)
    for action in actions { try player.requireActions(of: action) }
    return player
  }
}

extension ScriptAction.Kind {
  fileprivate var endsProcess: Bool {
    if case .input(let input) = self { input.traits.contains(.endsProcess) } else { false }
  }

  fileprivate var isWait: Bool { if case .wait = self { true } else { false } }
}

// MARK: - All scripts

extension ScriptChecker {
  /// Checks every script of up to `length` actions of the alphabet, shorter ones first, beginning with the empty script.
  ///
  /// Scripts whose run is that of another script are pruned:
  /// - A script with an action that the application ignores at that point. Such an action calls nothing, posts nothing
  ///   and lets no time pass, so the rest of the script runs as it would without the action. An end that the delegate
  ///   refuses is not ignored in this sense. (Only an observer of the record itself sees ignored actions.)
  /// - A script that ends with `kill`, if the check ends the script without this action by `kill` alone.
  /// - A script that launches the application by `open`, if `launch` is in the alphabet: the two differ only in the
  ///   name of the cause.
  ///
  /// - Parameter length: the greatest number of actions.
  /// - Returns: the numbers, and the first failure. As shorter scripts come first, no shorter script of the alphabet shows a fault.
  /// - Throws: a `ScriptError` for a `do:NAME` that `make` did not add; an error of `make`; `CancellationError` if the
  ///   task is cancelled. Once a failure has been found, nothing is thrown: see ``ScriptFailure/shorteningError``.
  /// - Complexity: exponential in `length`. Of *n* actions an application ignores about half at any point, so about
  ///   (*n*/2)^`length` scripts are played.
  public func checkAll(upTo length: Int) async throws -> ScriptCheckReport {
    try await run(Search(report: ScriptCheckReport(alphabet: alphabet), left: length))
  }

  private func run(_ search: Search) async throws -> ScriptCheckReport {
    var search = search
    try await end(player(.fifo, for: actions), after: [], &search)
    while search.left > 0, !search.longer.isEmpty, !search.isOver {
      let scripts = search.longer
      (search.longer, search.left) = ([], search.left - 1)
      for script in scripts where !search.isOver { try await playAll(after: script, &search) }
    }
    return search.report
  }

  /// A script without an ignored action that shows no fault.
  private struct KnownScript {
    var actions: [Int]
    var isInMemory = false
    /// Whether the check ended the script by `kill` alone.
    var endsByKill = false
  }

  private struct Search {
    var report: ScriptCheckReport
    /// The known scripts that are longer by one action.
    var longer: [KnownScript] = []
    /// The number of actions that may still be added.
    var left = 0
    /// The fault for which the search looks; nil for any fault.
    var wanted: RunComplaint?
    /// The number of played scripts after which the search ends.
    var mostPlays = Int.max

    var isOver: Bool { report.failure != nil || report.played >= mostPlays }
  }

  /// Plays each script that adds one action to this one.
  private func playAll(after script: KnownScript, _ search: inout Search) async throws {
    var next = 0
    while let action = nextAction(after: script, from: &next, &search) {
      let player = try player(.fifo, for: actions)
      for earlier in script.actions { _ = await player.play(actions[earlier]) }
      var played = action
      // An ignored action changes nothing, so the next action can use the same program.
      while await player.play(actions[played]) == .ignored, player.complaints.isEmpty {
        search.report.pruned = Self.sum(search.report.pruned, scripts(beginningBefore: search.left))
        guard let another = nextAction(after: script, from: &next, &search) else { return }
        played = another
      }
      await end(player, after: script.actions + [played], &search)
      if search.report.failure != nil { return }
    }
  }

  /// Ends the program on which a script was played, and takes the script into the report.
  private func end(_ player: ScriptPlayer, after script: [Int], _ search: inout Search) async {
    let known = KnownScript(actions: script, isInMemory: player.state.isInMemory, endsByKill: player.endsByKill)
    await player.end()
    search.report.played += 1
    if player.complaints.isEmpty {
      search.longer.append(known)
    } else if search.wanted.map({ wanted in player.complaints.contains { $0.isSameFault(as: wanted) } }) ?? true {
      search.report.failure = await failure(
        in: script.map { alphabet[$0] }, player.complaints, .fifo, search.wanted)
    }
  }

  /// Returns the next action after which the run is not known yet; nil if there is none.
  private func nextAction(after script: KnownScript, from next: inout Int, _ search: inout Search) -> Int? {
    while next < actions.count {
      let action = next
      next += 1
      if kinds[action] == .input(.system(.shutDown)), script.endsByKill {
        search.report.pruned = Self.sum(search.report.pruned, 1)
        search.longer.append(KnownScript(actions: script.actions + [action]))
      } else if kinds[action] == .input(.system(.open)), !script.isInMemory, kinds.contains(.input(.system(.launch))) {
        search.report.pruned = Self.sum(search.report.pruned, scripts(beginningBefore: search.left))
      } else {
        return action
      }
    }
    return nil
  }

  /// Returns the number of scripts that begin with the same actions, followed by up to `left` more.
  private func scripts(beginningBefore left: Int) -> Int {
    var (sum, power) = (1, 1)
    for _ in 0..<left {
      let (product, overflow) = power.multipliedReportingOverflow(by: actions.count)
      if overflow { return .max }
      power = product
      sum = Self.sum(sum, power)
    }
    return sum
  }

  private static func sum(_ left: Int, _ right: Int) -> Int {
    let (sum, overflow) = left.addingReportingOverflow(right)
    return overflow ? .max : sum
  }
}

// MARK: - Random scripts

extension ScriptChecker {
  /// Checks long scripts of random actions.
  ///
  /// Script number *i* has the seed `seed + i`, which determines the actions and ``ScriptRun/order``. Actions that are
  /// known to have no effect are left out. Actions that end the process are drawn less often than others, so that processes
  /// live for a while. No wait follows another wait.
  ///
  /// - Parameters:
  ///   - seed: the seed of the first script; the same seed gives the same scripts.
  ///   - count: the number of scripts.
  ///   - length: the number of actions of each script.
  /// - Returns: the numbers, and the first failure with a short script: actions are removed and waits shortened while the
  ///   fault still shows, and then up to 3,000 shorter scripts of standard actions are tried.
  /// - Throws: a `ScriptError` for a `do:NAME` that `make` did not add; an error of `make`; `CancellationError` if the
  ///   task is cancelled. Once a failure has been found, nothing is thrown: see ``ScriptFailure/shorteningError``.
  /// - Complexity: linear in `count` and `length`.
  public func checkRandom(seed: UInt64, count: Int, length: Int = 20) async throws -> ScriptCheckReport {
    var report = ScriptCheckReport(alphabet: alphabet)
    for number in 0..<max(count, 0) {
      let seed = seed &+ UInt64(number)
      var random = SplitMix64(seed: seed)
      let order = SimulationExecutor.Order.seeded(random.next())
      let player = try player(order, for: actions)
      let script = await playRandom(player, length, &random)
      if player.complaints.isEmpty { await player.end() }
      report.played += 1
      if !player.complaints.isEmpty {
        var failure = await failure(in: script, player.complaints, order)
        do { failure = try await shorter(than: failure) ?? failure } catch { failure.note(error) }
        failure.seed = seed
        report.failure = failure
        return report
      }
    }
    return report
  }

  /// Plays random actions up to the first complaint; returns them.
  private func playRandom(_ player: ScriptPlayer, _ length: Int, _ random: inout SplitMix64) async -> [String] {
    var script: [String] = []
    // The number of draws is limited: with the alphabet `launch`, for example, only the first action has an effect.
    var draws = length.multipliedReportingOverflow(by: 20).overflow ? .max : length * 20
    var waited = false
    while script.count < length, draws > 0, !actions.isEmpty {
      draws -= 1
      let action = Int.random(in: actions.indices, using: &random)
      if kinds[action].endsProcess, Int.random(in: 0..<4, using: &random) > 0 { continue }
      if player.ignores(kinds[action]) || kinds[action].isWait && waited { continue }
      waited = kinds[action].isWait
      _ = await player.play(actions[action])
      // Also one without an effect: its jobs have drawn random numbers, on which the order of all later ones depends.
      script.append(alphabet[action])
      if !player.complaints.isEmpty { break }
    }
    return script
  }
}

// MARK: - Failures

extension ScriptChecker {
  /// Shortens a script that showed a fault.
  ///
  /// An error, such as that of a cancelled task, ends only the shortening.
  private func failure(
    in script: [String], _ complaints: [RunComplaint], _ order: SimulationExecutor.Order, _ wanted: RunComplaint? = nil
  ) async -> ScriptFailure {
    let fault = wanted ?? complaints[0]
    let text = script.joined(separator: "; ")
    var failure = ScriptFailure(script: text, foundIn: text, complaints: complaints, order: order)
    // The shrinker goes on with each script that fails, so the latest one is the shortest.
    func fails(_ script: [String]) async throws -> Bool {
      let script = script.joined(separator: "; ")
      let found = try await self.complaints(about: script, order: order)
      guard let same = found.firstIndex(where: { $0.isSameFault(as: fault) }) else { return false }
      failure.script = script
      failure.complaints = [found[same]] + found[..<same] + found[(same + 1)...]
      return true
    }
    do {
      failure.isRepeatable = try await fails(script)
      if failure.isRepeatable { _ = try await Shrinker.shrink(script, while: fails) }
    } catch {
      failure.note(error)
    }
    return failure
  }

  /// The largest number of scripts that are played to find a shorter one with the same fault.
  private static let mostPlaysForShorter = 3_000

  /// Returns a script with the same fault that is shorter than the result of removing actions; nil if none is found.
  ///
  /// It tries shorter scripts of the failing script's actions and the alphabet's standard actions, within the limit of
  /// plays. A fault that a random script reached by a detour can often be reached by a shorter script with other
  /// actions.
  private func shorter(than failure: ScriptFailure) async throws -> ScriptFailure? {
    let known = try Script(failure.script).actions.map(\.token)
    guard failure.isRepeatable, failure.shorteningError == nil, known.count > 1, let fault = failure.complaints.first
    else { return nil }
    let plain = Set(try Script(ScriptAlphabet.standard).actions.map(\.token)).union(known)
    let actions = (alphabet + known).filter(plain.contains).joined(separator: "; ")
    let checker = try ScriptChecker(alphabet: actions, allowing: allowed, of: make)
    let search = Search(
      report: ScriptCheckReport(alphabet: checker.alphabet), left: known.count - 1, wanted: fault,
      mostPlays: Self.mostPlaysForShorter)
    guard let found = try await checker.run(search).failure, found.isRepeatable else { return nil }
    return ScriptFailure(
      script: found.script, foundIn: failure.foundIn, complaints: found.complaints,
      shorteningError: found.shorteningError)
  }
}
