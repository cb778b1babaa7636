import AppLifecycle
import AppLifecycleTesting
import PubSub
import Scheduling
import TestTraits
import Testing

@testable import AppLifecycleTestSupport

/// A program with a file that is open in the foreground, and with a fault if a test wants one.
@MainActor private final class FileDelegate {
  enum Fault: Sendable {
    /// The file is opened twice when the application comes back during a call.
    case leakOnInterruptedReturn
    /// What was opened in the background is not closed at the end.
    case leakAtEnd
    /// The delegate refuses to end, and is confused the next time that it leaves the foreground.
    case refusal
    /// Time is lost.
    case lateness
  }

  private let run: ScriptRun
  private let fault: Fault?
  private var returns = 0
  private var hasRefused = false
  private(set) var isConfused = false

  init(_ run: ScriptRun, _ fault: Fault?) { (self.run, self.fault) = (run, fault) }
}

extension FileDelegate: ApplicationDelegate {
  func applicationDidFinishLaunching(_ application: Application) {
    returns = 0
    _ = try? application.manage("file", while: .foreground) { [self] in
      run.balance.opened("file")
      if fault == .leakOnInterruptedReturn, returns > 0, application.deactivationReasons.contains(.call) {
        run.balance.opened("file")
      }
    } release: { [self] in
      run.balance.closed("file")
    }
  }

  func applicationWillEnterForeground(_ application: Application) { returns += 1 }

  func applicationDidEnterBackground(_ application: Application) {
    isConfused = hasRefused
    if fault == .leakAtEnd { run.balance.opened("cache", atMost: .max) }
  }

  func applicationShouldTerminate(_ application: Application, cause: LifecycleCause) async -> TerminateReply {
    guard fault == .refusal else { return .now }
    hasRefused = true
    return .cancel
  }
}

@MainActor private func program(
  _ fault: FileDelegate.Fault? = nil
) -> @MainActor (ScriptRun) throws -> SimulatedSystem {
  { run in
    let delegate = FileDelegate(run, fault)
    let system = SimulatedSystem(order: run.order) { delegate }
    run.afterEachAction {
      run.expect(!delegate.isConfused, "confused")
      if fault == .lateness { run.expect(system.clock.now.offset < .seconds(3), "late at \(system.clock.now)") }
    }
    return system
  }
}

@Suite(.timeLimit(.hang)) @MainActor struct `The check of all scripts` {
  @Test func `decides every script, and finds nothing in a program without a fault`() async throws {
    let report = try await checkAllScripts(upTo: 4, of: program())
    #expect(report.failure == nil)
    #expect(report.alphabet.count == 9)
    #expect(report.scripts == 1 + 9 + 9 * 9 + 9 * 9 * 9 + 9 * 9 * 9 * 9)
    #expect(report.played > 300 && report.pruned > report.played)
  }

  @Test func `finds the shortest script of all`() async throws {
    let report = try await ScriptChecker(of: program(.leakOnInterruptedReturn)).checkAll(upTo: 6)
    let failure = try #require(report.failure)
    #expect(failure.script == "launch; home; interrupt:call; open")
    #expect(failure.complaints == [RunComplaint(.resource, "“file” was opened while it was already open")])
    #expect(failure.isRepeatable)
  }

  @Test func `looks at the end of each script`() async throws {
    let failure = try await ScriptChecker(of: program(.leakAtEnd)).checkAll(upTo: 3).failure
    #expect(failure?.script == "launch")
    #expect(failure?.complaints.map(\.message) == ["“cache” was still open after the application had ended in order"])
  }

  @Test func `shortens waits, and compares the test's own checks by kind`() async throws {
    let failure = try await ScriptChecker(of: program(.lateness)).checkAll(upTo: 3).failure
    #expect(failure?.script == "wait:5s")
    #expect(failure?.foundIn == "wait:6s")
    #expect(failure?.complaints == [RunComplaint(.check, "late at t+5.0 seconds")])
  }

  @Test func `does not take an end that was refused for one that was ignored`() async throws {
    let checker = try ScriptChecker(alphabet: "launch quit home", of: program(.refusal))
    let failure = try await checker.checkAll(upTo: 3).failure
    // The end of the script takes the application to the background, too.
    #expect(failure?.script == "launch; quit")
    #expect(failure?.isRepeatable == true)
  }

  @Test func `says so if a fault does not show again`() async throws {
    var worlds = 0
    let checker = try ScriptChecker(alphabet: "launch home") { run in
      worlds += 1
      let world = worlds
      run.afterEachAction { run.expect(world != 2, "the second") }
      return SimulatedSystem()
    }
    let failure = try #require(try await checker.checkAll(upTo: 2).failure)
    #expect(!failure.isRepeatable)
    #expect("\(failure)".contains("did not occur again"))
  }

  @Test func `takes what a check throws for a complaint`() async throws {
    struct Wrong: Error {}
    let failure = try await ScriptChecker(alphabet: "launch") { run in
      let system = SimulatedSystem()
      run.afterEachAction { if system.application.state == .active { throw Wrong() } }
      return system
    }.checkAll(upTo: 1).failure
    #expect(failure?.complaints == [RunComplaint(.check, "Wrong()")])
  }

  @Test func `releases the program of each script, whatever its check captures`() async throws {
    final class Living: Sendable {
      let count = Guarded(0)
      func add(_ number: Int) { count.withLock { $0 += number } }
    }
    final class Part: Sendable {
      private let living: Living
      init(_ living: Living) {
        self.living = living
        living.add(1)
      }
      deinit { living.add(-1) }
    }
    let living = Living()
    let report = try await ScriptChecker(alphabet: "launch home crash") { run in
      let (system, part) = (SimulatedSystem(), Part(living))
      run.afterEachAction {
        run.expect(system.application.state != .suspended || living.count.withLock { $0 } < 0, "\(part)")
      }
      return system
    }.checkAll(upTo: 3)
    #expect(report.failure == nil && report.played > 3)
    #expect(living.count.withLock { $0 } == 0)
  }

  @Test func `shortens and prints actions of the test's own as it does others`() async throws {
    // The fault: what was typed in the background is lost at an orderly end.
    func make(_ run: ScriptRun) -> SimulatedSystem {
      let system = SimulatedSystem(order: run.order)
      var (text, saved) = ("", "")
      system.addAction("type") { text += "a" }
      system.bus.subscribe(to: Application.DidEnterBackground.self, for: run) { _, _ in saved = text }
      run.afterEachAction { [unowned system] in if system.hasEndedInOrder { run.expect(saved == text, "lost") } }
      return system
    }
    let alphabet = "\(ScriptAlphabet.standard) do:type"
    let checker = try ScriptChecker(alphabet: alphabet, of: make)
    let all = try #require(try await checker.checkAll(upTo: 4).failure)
    #expect(all.script == "launch; home; do:type")
    let random = try #require(try await checker.checkRandom(seed: 3, count: 100, length: 30).failure)
    #expect(random.script.split(separator: "; ").count == 3 && random.script.hasSuffix("do:type"), "\(random)")
    #expect(try await checker.complaints(about: all.script) == [RunComplaint(.check, "lost")])
  }

  /// Tasks of the program that run in one order of many, which is the fault.
  @MainActor private final class Typist {
    private var order: [Int] = []
    private(set) var isLost = false

    func type(in application: Application) {
      order = []
      for number in 0..<4 {
        application.task {
          // Off the main actor, whose jobs keep their order.
          await Task { @concurrent in }.value
          self.order.append(number)
          if self.order == [3, 2, 1, 0] { self.isLost = true }
        }
      }
    }
  }

  @Test func `plays a fault of one order again, though some of the script's actions were ignored`() async throws {
    func make(_ run: ScriptRun) -> SimulatedSystem {
      let (system, typist) = (SimulatedSystem(order: run.order), Typist())
      system.addAction("type") { [application = system.application] in typist.type(in: application) }
      run.afterEachAction { run.expect(!typist.isLost, "lost") }
      return system
    }
    let checker = try ScriptChecker(alphabet: "launch home open kill do:type task:end:x mode:end:y", of: make)
    for seed in 0..<3 as Range<UInt64> {
      let failure = try #require(try await checker.checkRandom(seed: seed * 1_000, count: 200, length: 12).failure)
      #expect(failure.isRepeatable, "\(failure)")
      let complaints = try await checker.complaints(about: failure.script, order: failure.order)
      #expect(complaints == failure.complaints, "\(failure)")
      #expect("\(failure)".contains("order: .seeded("))
    }
  }

  @Test func `prunes an action of the user where there is no user, and plays what happens outside`() async throws {
    var played: [String: Int] = [:]
    let report = try await ScriptChecker(alphabet: "launch do:type do:outage") { run in
      let system = SimulatedSystem()
      system.addAction("type") { played["type", default: 0] += 1 }
      system.addAction("outage", always: true) { played["outage", default: 0] += 1 }
      return system
    }.checkAll(upTo: 2)
    // The empty one; launch, outage; launch type, launch outage, outage launch, outage outage.
    #expect(report.played == 7 && report.scripts == 13)
    #expect(played["type"] == 1)
  }

  @Test func `refuses an action that the program does not have`() async throws {
    let checker = try ScriptChecker(alphabet: "launch do:typo", of: program())
    let error = await #expect(throws: ScriptError.self) { try await checker.checkAll(upTo: 2) }
    #expect(error?.problem == .actionNotAdded && error?.token == "do:typo")
    #expect(error?.line == 1 && error?.column == 8)
    await #expect(throws: ScriptError.self) { try await checker.checkRandom(seed: 1, count: 1) }
    let other = await #expect(throws: ScriptError.self) { try await checker.complaints(about: "launch;\n  do:other") }
    #expect(other?.token == "do:other" && other?.line == 2 && other?.column == 3)
  }

  @Test func `counts as many scripts as there are numbers`() async throws {
    let report = try await ScriptChecker(alphabet: "home memory", of: program()).checkAll(upTo: 100)
    #expect(report.played == 1 && report.pruned == .max && report.scripts == .max)
  }

  @Test func `knows each action once, and none that does not exist`() async throws {
    let checker = try ScriptChecker(alphabet: "launch; launch\nhome # a comment", of: program())
    #expect(checker.alphabet == ["launch", "home"])
    #expect(throws: ScriptError.self) { try ScriptChecker(alphabet: "launch jump", of: program()) }
    #expect(try await ScriptChecker(alphabet: "", of: program()).checkAll(upTo: 3).scripts == 1)
  }

  @Test func `leaves out what is allowed`() async throws {
    let checker = try ScriptChecker(allowing: [.resource], of: program(.leakAtEnd))
    #expect(try await checker.checkAll(upTo: 3).failure == nil)
  }

  @Test func `records the failure as an issue of the line that asked`() async throws {
    let line = #line + 2
    try await withKnownIssue {
      try await checkAllScripts(upTo: 4, of: program(.leakOnInterruptedReturn))
    } matching: { issue in
      let failure = issue.error as? ScriptFailure
      return failure?.script == "launch; home; interrupt:call; open" && issue.sourceLocation?.line == line
    }
  }

  /// What the pruning rests on: an action that is ignored leaves the rest of the run as it is.
  @Test func `prunes nothing that matters`() async throws {
    let actions = ["launch", "home", "open", "interrupt:call", "lock", "kill"]
    var scripts: [[String]] = [[]]
    for _ in 1...4 { scripts = scripts.flatMap { script in actions.map { script + [$0] } } }
    var records: [[String]: [LifecycleRecord]] = [:]
    var ignored = 0
    for script in scripts {
      let system = try program()(ScriptRun(order: .fifo))
      var effective: [String] = []
      var record: [LifecycleRecord] = []
      for action in script {
        let new = try await system.play(action)
        if new.last?.kind == .ignored {
          ignored += 1
          #expect(new.count == 2)
        } else {
          effective.append(action)
          record += new
        }
      }
      if let known = records[effective] { #expect(known == record, "\(script)") } else { records[effective] = record }
    }
    #expect(ignored > 1_000)
  }

  @Test(arguments: [
    "launch", "launch; home", "launch; interrupt:call; home; open", "launch; lock", "launch:background",
  ])
  func `ends a script as the kill does that it therefore does not play`(script: String) async throws {
    let (played, ended) = (try program()(ScriptRun(order: .fifo)), try program()(ScriptRun(order: .fifo)))
    try await played.play("\(script); kill")
    try await ended.play(script)
    #expect(await RunWatch(ended).end() == [])
    #expect(ended.record == played.record)
  }

  @Test(arguments: ["", "lock; unlock; ", "interrupt:call; ", "launch; crash; "])
  func `does not play an open that launches, as it is a launch of another name`(beginning: String) async throws {
    let (launched, opened) = (try program()(ScriptRun(order: .fifo)), try program()(ScriptRun(order: .fifo)))
    try await launched.play(beginning + "launch; wait:1s; home; wait:6s")
    try await opened.play(beginning + "open; wait:1s; home; wait:6s")
    let records = opened.record.map { record in
      var record = record
      if record.cause == "open" { record.cause = "launch" }
      if record.name == "open" { record.name = "launch" }
      return record
    }
    #expect(records == launched.record)
  }
}

@Suite(.timeLimit(.hang)) @MainActor struct `The check of random scripts` {
  /// Locking twice shows the fault, and so does one call: where a script has no call before that, removing leaves the long way.
  @Test func `finds the short way to a fault that was reached by a long one`() async throws {
    let checker = try ScriptChecker(alphabet: "launch lock unlock memory interrupt:call") { run in
      let system = SimulatedSystem()
      var locks = 0
      let token = system.application.observe { event in
        if let record = event.record, record.kind == .state, record.state == .background { locks += 1 }
      }
      run.afterEachAction {
        let isCalled = system.application.deactivationReasons.contains(.call) && system.application.state.isInMemory
        run.expect(locks < 2 && !isCalled, "wrong")
        withExtendedLifetime(token) {}
      }
      return system
    }
    var long = 0
    for seed in 0..<50 as Range<UInt64> {
      let failure = try #require(try await checker.checkRandom(seed: seed, count: 100).failure)
      #expect(failure.script.split(separator: "; ").count == 2, "seed \(seed): \(failure)")
      if !failure.foundIn.contains("interrupt:call") { long += 1 }
    }
    #expect(long > 0)
  }

  @Test func `finds nothing in a program without a fault, and plays the same scripts again`() async throws {
    func scripts() async throws -> [String] {
      var systems: [SimulatedSystem] = []
      let report = try await checkRandomScripts(seed: 1, count: 30, length: 12) { run in
        let system = try program()(run)
        systems.append(system)
        return system
      }
      #expect(report.failure == nil && report.scripts == 30)
      return systems.map { system in system.record.filter { $0.kind == .input }.map(\.name).joined(separator: " ") }
    }
    let first = try await scripts()
    #expect(try await scripts() == first)
    #expect(Set(first).count == 30)
    // Twelve that had an effect, those that had none, and the end.
    #expect(first.allSatisfy { $0.split(separator: " ").count >= 12 })
  }

  /// The application does not ignore it: it ends the session, and the window's saved values.
  @Test(arguments: ["scene:background:b; scene:reclaim:b", "crash; launch"])
  func `closes a window that has no scene any more`(reclaim: String) async throws {
    let alphabet = "scene:open:b; scene:close:b; \(reclaim)"
    let report = try await ScriptChecker(alphabet: alphabet) { run in
      let system = SimulatedSystem(profile: .scenes, order: run.order)
      let application = system.application
      var hadSessionOnly = false
      run.afterEachAction { [unowned application] in
        let hasSession = application.openSessions.contains { $0.identifier == "b" }
        run.expect(!application.state.isInMemory || !hadSessionOnly || hasSession, "closed")
        hadSessionOnly = hasSession && !application.scenes.contains { $0.identifier == "b" }
      }
      return system
    }.checkRandom(seed: 1, count: 20)
    #expect(report.failure?.script == "scene:open:b; \(reclaim); scene:close:b")
  }

  @Test func `shrinks what it finds, and names the seed that makes it again`() async throws {
    let checker = try ScriptChecker(alphabet: ScriptAlphabet.extended, of: program(.leakOnInterruptedReturn))
    let failure = try #require(try await checker.checkRandom(seed: 5, count: 500, length: 30).failure)
    #expect(failure.script.split(separator: "; ").count <= 4, "\(failure)")
    #expect(failure.isRepeatable)
    let seed = try #require(failure.seed)
    #expect(try await checker.checkRandom(seed: seed, count: 1, length: 30).failure == failure)
    #expect("\(failure)".contains("checkRandomScripts(seed: \(seed), count: 1, …)"))
  }

  @Test func `records the failure as an issue of the line that asked`() async throws {
    let line = #line + 2
    try await withKnownIssue {
      try await checkRandomScripts(seed: 5, count: 500, of: program(.leakAtEnd))
    } matching: { issue in
      issue.error is ScriptFailure && issue.sourceLocation?.line == line
    }
  }

  @Test func `ends, also where nothing can happen`() async throws {
    let report = try await checkRandomScripts(seed: 1, count: 3, alphabet: "home", of: program())
    #expect(report.played == 3)
    #expect(try await checkRandomScripts(seed: 1, count: -1, of: program()).played == 0)
  }
}

@Suite(.timeLimit(.hang)) @MainActor struct `The check of one script` {
  @Test func `plays again what was found`() async throws {
    #expect(try await checkScript("launch; home; interrupt:call; open", of: program()) == [])
    let line = #line + 2
    try await withKnownIssue {
      try await checkScript("launch; home; interrupt:call; open; kill", of: program(.leakOnInterruptedReturn))
    } matching: { issue in
      issue.comments.contains { $0.rawValue.contains("“file” was opened while it was already open") }
        && issue.sourceLocation?.line == line
    }
  }
}
