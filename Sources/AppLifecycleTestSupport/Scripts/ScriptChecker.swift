import AppLifecycle
public import AppLifecycleTesting

/// Runs a program through many scripts, and shrinks the first failure.
///
///     let checker = try ScriptChecker { run in
///       let server = ServerDouble(run.balance)
///       return SimulatedSystem(delegate: AppDelegate(server), order: run.order)
///     }
///     let report = try await checker.checkAll(upTo: 5)
///     #expect(report.failure == nil)
///
/// ``checkAllScripts(upTo:alphabet:allowing:sourceLocation:of:)`` and its kin record the failure as an issue; use a checker where
/// you need the report alone.
///
/// Each script is played on a program of its own, action by action. After each action, when all that it set going has been done,
/// the run is held to the rules of the life cycle, to the balance of resources, and to the test's own checks. After the last
/// action the application is ended (``RunWatch/end()``), and looked at again. The same scripts give the same report.
@MainActor public struct ScriptChecker {
  /// The actions of which scripts are made, each once.
  public let alphabet: [String]

  private let actions: [Script]
  /// What each of the actions does.
  private let kinds: [ScriptAction.Kind]
  private let allowed: Set<RunComplaint.Kind>
  private let make: @MainActor (ScriptRun) throws -> SimulatedSystem

  /// A checker of one program.
  ///
  /// - Parameters:
  ///   - alphabet: the actions of which scripts are made, as a script; an action that stands in it twice counts once.
  ///   - allowed: the kinds of faults that are no failure.
  ///   - make: makes the program under test and its system. Called for each script, often thousands of times; what it makes must not
  ///     share state with what it made before.
  /// - Throws: the first mistake in the alphabet.
  public init(
    alphabet: String = ScriptAlphabet.standard, allowing allowed: Set<RunComplaint.Kind> = [],
    of make: @escaping @MainActor (ScriptRun) throws -> SimulatedSystem
  ) throws(ScriptError) {
    var known: Set<String> = []
    let all = try Script(alphabet).actions.filter { known.insert($0.token).inserted }
    self.alphabet = all.map(\.token)
    actions = try all.map { action throws(ScriptError) in try Script(action.token) }
    kinds = all.map(\.kind)
    (self.allowed, self.make) = (allowed, make)
  }

  /// Plays one script.
  ///
  /// - Parameter script: the script; its actions need not be in the alphabet.
  /// - Returns: what is wrong; empty if nothing is.
  /// - Throws: a mistake in the script, or what making the program throws.
  public func complaints(about script: String) async throws -> [RunComplaint] {
    try await complaints(about: try Script(script).actions.map(\.token), .fifo)
  }

  private func complaints(about script: [String], _ order: SimulationExecutor.Order) async throws -> [RunComplaint] {
    let player = try player(order)
    for action in script {
      _ = await player.play(try Script(action))
      if !player.complaints.isEmpty { return player.complaints }
    }
    await player.end()
    return player.complaints
  }

  private func player(_ order: SimulationExecutor.Order) throws -> ScriptPlayer {
    try Task.checkCancellation()
    return try ScriptPlayer(order: order, allowing: allowed, make)
  }
}

extension ScriptAction.Kind {
  fileprivate var endsProcess: Bool {
    switch self {
    case .input(.terminate), .input(.shutDown), .input(.killFromSwitcher), .input(.crash), .input(.reclaim),
      .input(.reboot):
      true
    default: false
    }
  }

  fileprivate var isWait: Bool { if case .wait = self { true } else { false } }
}

// MARK: - All scripts

extension ScriptChecker {
  /// Checks every script of up to so many actions of the alphabet, shorter ones first.
  ///
  /// Scripts that have the run of another script are pruned:
  /// - A script with an action that the application ignores at that point. Such an action calls nothing, posts nothing and lets no
  ///   time pass: what follows has the same run as without it. An end that the delegate refuses is not ignored in this sense.
  ///   (Only an observer of the record itself sees ignored actions.)
  /// - A script that ends with `kill` where the script before it is ended in just this way.
  /// - A script that launches the application by `open`, if `launch` is in the alphabet: the two differ in the cause's name.
  ///
  /// - Parameter length: the greatest number of actions.
  /// - Returns: the numbers, and the first failure. As shorter scripts come first, no shorter script of the alphabet shows a fault.
  /// - Throws: what making the program throws; `CancellationError` if the task is cancelled.
  /// - Complexity: exponential in `length`. Of *n* actions an application ignores about half at any point, so some (*n*/2)^`length`
  ///   scripts are played.
  public func checkAll(upTo length: Int) async throws -> ScriptCheckReport {
    try await run(Search(report: ScriptCheckReport(alphabet: alphabet), left: length))
  }

  private func run(_ search: Search) async throws -> ScriptCheckReport {
    var search = search
    var scripts = [KnownScript()]
    while search.left > 0, !scripts.isEmpty {
      search.left -= 1
      for script in scripts {
        try await playAll(after: script, &search)
        if search.report.failure != nil || search.report.played >= search.mostPlays { return search.report }
      }
      (scripts, search.longer) = (search.longer, [])
    }
    return search.report
  }

  /// A script without an ignored action that shows no fault.
  private struct KnownScript {
    var actions: [Int] = []
    var isInMemory = false
    /// Whether the script was ended by `kill` and nothing else.
    var endsByKill = false
  }

  private struct Search {
    var report: ScriptCheckReport
    /// The scripts that are longer by one action.
    var longer: [KnownScript] = []
    /// How many more actions may come after these.
    var left = 0
    /// The fault that is looked for; nil for any.
    var wanted: RunComplaint?
    /// The search ends after so many scripts.
    var mostPlays = Int.max
  }

  /// Plays each script that is longer than this one by one action.
  private func playAll(after script: KnownScript, _ search: inout Search) async throws {
    var next = 0
    while let action = nextAction(after: script, from: &next, &search) {
      let player = try player(.fifo)
      for earlier in script.actions { _ = await player.play(actions[earlier]) }
      var played = action
      // What is ignored changes nothing, so the same program is fit for the action after it.
      while await player.play(actions[played]) == .ignored, player.complaints.isEmpty {
        search.report.pruned = Self.sum(search.report.pruned, scripts(beginningBefore: search.left))
        guard let another = nextAction(after: script, from: &next, &search) else { return }
        played = another
      }
      let new = KnownScript(
        actions: script.actions + [played], isInMemory: player.state.isInMemory, endsByKill: player.endsByKill)
      await player.end()
      search.report.played += 1
      if player.complaints.isEmpty {
        search.longer.append(new)
      } else if search.wanted.map({ wanted in player.complaints.contains { $0.isSameFault(as: wanted) } }) ?? true {
        search.report.failure = try await failure(
          in: new.actions.map { alphabet[$0] }, player.complaints, .fifo, search.wanted)
        return
      }
    }
  }

  /// The next action after which the run is not known yet; nil if there is none.
  private func nextAction(after script: KnownScript, from next: inout Int, _ search: inout Search) -> Int? {
    while next < actions.count {
      let action = next
      next += 1
      if kinds[action] == .input(.shutDown), script.endsByKill {
        search.report.pruned = Self.sum(search.report.pruned, 1)
        search.longer.append(KnownScript(actions: script.actions + [action]))
      } else if kinds[action] == .input(.open), !script.isInMemory, kinds.contains(.input(.launch)) {
        search.report.pruned = Self.sum(search.report.pruned, scripts(beginningBefore: search.left))
      } else {
        return action
      }
    }
    return nil
  }

  /// How many scripts begin with the same actions, after which `left` more may come.
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
  /// Checks long scripts of actions drawn at random.
  ///
  /// The script with number *i* has the seed `seed + i`: it decides the actions, and ``ScriptRun/order``. Actions that the
  /// application ignores are left out. Actions that end the process are drawn less often than others, so that processes live for a
  /// while, and no wait follows another.
  ///
  /// - Parameters:
  ///   - seed: the seed of the first script; the same seed gives the same scripts.
  ///   - count: how many scripts.
  ///   - length: how many actions each has.
  /// - Returns: the numbers, and the first failure, shrunk: actions are removed for as long as the fault shows, then up to 3,000 shorter
  ///   scripts of plain actions are tried.
  /// - Throws: what making the program throws; `CancellationError` if the task is cancelled.
  /// - Complexity: linear in `count` and `length`.
  public func checkRandom(seed: UInt64, count: Int, length: Int = 20) async throws -> ScriptCheckReport {
    var report = ScriptCheckReport(alphabet: alphabet)
    for number in 0..<max(count, 0) {
      let seed = seed &+ UInt64(number)
      var random = RandomNumbers(seed: seed)
      let order = SimulationExecutor.Order.seeded(random.next())
      let player = try player(order)
      let script = await playRandom(player, length, &random)
      if player.complaints.isEmpty { await player.end() }
      report.played += 1
      if !player.complaints.isEmpty {
        let failure = try await failure(in: script, player.complaints, order)
        report.failure = try await shorter(than: failure) ?? failure
        report.failure?.seed = seed
        return report
      }
    }
    return report
  }

  /// Plays random actions; returns those that had an effect, up to the first complaint.
  private func playRandom(_ player: ScriptPlayer, _ length: Int, _ random: inout RandomNumbers) async -> [String] {
    var script: [String] = []
    // An alphabet may come to an end: `launch` alone has one action that counts.
    var draws = length * 20
    var waited = false
    while script.count < length, draws > 0, !actions.isEmpty {
      draws -= 1
      let action = Int.random(in: actions.indices, using: &random)
      if kinds[action].endsProcess, Int.random(in: 0..<4, using: &random) > 0 { continue }
      if player.ignores(kinds[action]) || kinds[action].isWait && waited { continue }
      waited = kinds[action].isWait
      let effect = await player.play(actions[action])
      let fails = !player.complaints.isEmpty
      if effect == .done || fails { script.append(alphabet[action]) }
      if fails { break }
    }
    return script
  }
}

// MARK: - Failures

extension ScriptChecker {
  /// Shrinks a script that showed a fault.
  private func failure(
    in script: [String], _ complaints: [RunComplaint], _ order: SimulationExecutor.Order, _ wanted: RunComplaint? = nil
  ) async throws -> ScriptFailure {
    let fault = wanted ?? complaints[0]
    var latest = complaints
    func fails(_ script: [String]) async throws -> Bool {
      let found = try await self.complaints(about: script, order)
      guard let same = found.firstIndex(where: { $0.isSameFault(as: fault) }) else { return false }
      latest = [found[same]] + found[..<same] + found[(same + 1)...]
      return true
    }
    let text = script.joined(separator: "; ")
    guard try await fails(script) else {
      return ScriptFailure(script: text, foundIn: text, complaints: complaints, isRepeatable: false)
    }
    let shrunk = try await Shrinker.shrink(script, while: fails)
    return ScriptFailure(script: shrunk.joined(separator: "; "), foundIn: text, complaints: latest)
  }

  /// So many scripts are played to find a shorter one that shows the same fault.
  private static let mostPlaysForShorter = 3_000

  /// A script that shows the same fault and is shorter than what removing actions has led to.
  ///
  /// Every shorter script of the failing one's actions and the plainest actions of the alphabet is tried, as far as the number of plays
  /// goes: a fault that a random script reached by a detour is often on a short way that has other actions.
  private func shorter(than failure: ScriptFailure) async throws -> ScriptFailure? {
    let known = try Script(failure.script).actions.map(\.token)
    guard failure.isRepeatable, known.count > 1, let fault = failure.complaints.first else { return nil }
    let plain = Set(try Script(ScriptAlphabet.standard).actions.map(\.token)).union(known)
    let actions = (alphabet + known).filter(plain.contains).joined(separator: "; ")
    let checker = try ScriptChecker(alphabet: actions, allowing: allowed, of: make)
    let search = Search(
      report: ScriptCheckReport(alphabet: checker.alphabet), left: known.count - 1, wanted: fault,
      mostPlays: Self.mostPlaysForShorter)
    guard let found = try await checker.run(search).failure else { return nil }
    return ScriptFailure(script: found.script, foundIn: failure.foundIn, complaints: found.complaints)
  }
}

/// Random numbers that a seed decides: SplitMix64, by Guy Steele, Doug Lea and Christine Flood.
struct RandomNumbers: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
