import AppLifecycle
import AppLifecycleTesting
import PubSub
import TestTraits
import Testing

/// Background tasks and modes as an application uses them, on a simulated system.
@MainActor @Suite(.timeLimit(.hang)) struct `Background tasks` {
  let system = SimulatedSystem()
  var application: Application { system.application }

  private func events(_ records: [LifecycleRecord]? = nil) -> [String] {
    (records ?? system.record).filter { [.task, .report, .state].contains($0.kind) }
      .map { "\($0.instant / .seconds(1)) \($0.name)" }
  }

  // MARK: The time that remains

  @Test func `the time that remains is 30 s less the stay, and unlimited in the foreground`() async throws {
    var seen: [String] = []
    func note(_ place: String) {
      seen.append("\(place) \(application.remainingBackgroundTime.map { "\($0 / .seconds(1))" } ?? "unlimited")")
    }
    let subscriptions = [
      system.bus.subscribe(to: Application.DidFinishLaunching.self) { _ in note("launched") },
      system.bus.subscribe(to: Application.WillResignActive.self) { _ in note("resigns") },
      system.bus.subscribe(to: Application.DidEnterBackground.self) { _ in note("background") },
      system.bus.subscribe(to: Application.WillEnterForeground.self) { _ in note("returns") },
      system.bus.subscribe(to: Application.DidBecomeActive.self) { _ in note("active") },
    ]
    note("before")
    try await system.play("launch; home; wait:4s; open; task:begin:a; home; wait:28s")
    note("at 28")
    try await system.play("mode:begin:audio; wait:1h")
    note("audio")
    try await system.play("mode:end:audio; task:end:a; wait:1s")
    note("a new stay")
    try await system.play("wait:1m")
    note(application.state.rawValue)
    try await system.play("kill")
    note(application.state.rawValue)
    withExtendedLifetime(subscriptions) {}
    #expect(
      seen == [
        "before 0.0", "launched unlimited", "active unlimited", "resigns unlimited", "background 30.0",
        "returns unlimited", "active unlimited", "resigns unlimited", "background 30.0", "at 28 2.0", "audio unlimited",
        "a new stay 29.0", "suspended 0.0", "notRunning 0.0",
      ])
  }

  @Test func `the times are configurable`() async throws {
    var configuration = Application.Configuration()
    configuration.backgroundTaskAllowance = .seconds(100)
    configuration.backgroundExpirationLead = .seconds(1)
    configuration.backgroundStay = .seconds(2)
    let system = SimulatedSystem(configuration: configuration)
    try await system.play("launch; home; wait:1m; open; task:begin:a; home; wait:1h")
    #expect(
      events(system.record).suffix(4) == [
        "60.0 background", "159.0 expire:a", "160.0 backgroundTimeExpired:a", "160.0 notRunning",
      ])
    #expect(events(system.record).contains("2.0 suspended"))
  }

  // MARK: Expiration

  @Test func `expiration handlers run in order of begin, each once in its task's life`() async throws {
    var called: [String] = []
    func begin(_ name: String) -> Application.BackgroundTask {
      application.beginBackgroundTask(named: name) { _ in
        called.append("\(name) at \(system.clock.now.offset / .seconds(1)), \(application.state.rawValue)")
      }
    }
    try await system.play("launch")
    let first = begin("first")
    try await system.play("home; wait:10s")
    let second = begin("second")
    try await system.play("wait:16s; open; wait:4s")
    let third = begin("third")
    try await system.play("home; wait:26s")
    #expect(called == ["first at 25.0, background", "second at 25.0, background", "third at 55.0, background"])
    for task in [third, second, first] { task.end() }
    await system.clock.settle()
    #expect(application.state == .suspended)
    #expect(!system.record.contains { $0.kind == .report })
  }

  @Test func `a handler that ends another task spares it its own; when all have ended it is suspended`() async throws {
    var called: [String] = []
    try await system.play("launch")
    let last = Held()
    for name in ["a", "b"] {
      _ = application.beginBackgroundTask(named: name) { task in
        called.append(name)
        task.end()
        if name == "a" { last.task?.end() }
      }
    }
    last.task = application.beginBackgroundTask(named: "c") { _ in called.append("c") }
    let record = try await system.play("home; wait:1m")
    #expect(called == ["a", "b"])
    #expect(events(record) == ["0.0 inactive", "0.0 background", "25.0 expire:a", "25.0 expire:b", "25.0 suspended"])
  }

  @Test(
    arguments: [
      "launch; home; open", "launch; home; suspend; open", "launch; home; wait:6s; open", "launch:background; open",
      "passcode:on; launch; lock; suspend; unlock",
    ], [LifecycleProfile.application, .scenes])
  func `the time is unlimited from the return on`(script: String, profile: LifecycleProfile) async throws {
    let system = SimulatedSystem(profile: profile)
    var seen: [Duration?] = []
    let token = system.bus.subscribe(to: Application.WillEnterForeground.self) {
      seen.append($0.application.remainingBackgroundTime)
    }
    defer { token.cancel() }
    try await system.play(script)
    // With scenes, a launch into the foreground enters it, too.
    #expect(seen == Array(repeating: nil, count: profile == .scenes && !script.hasPrefix("launch:") ? 2 : 1))
  }

  @Test(arguments: [LifecycleProfile.application, .scenes])
  func `a begin on the return is not refused, also after expiration`(profile: LifecycleProfile) async throws {
    let system = SimulatedSystem(profile: profile)
    try await system.play("launch; home; task:begin:a; wait:26s; task:begin:late")
    var expired: [String] = []
    let token = system.bus.subscribe(to: Application.WillEnterForeground.self) { event in
      _ = event.application.beginBackgroundTask(named: "on the return") { _ in expired.append("on the return") }
    }
    defer { token.cancel() }
    try await system.play("open; wait:1m")
    #expect(system.record.filter { $0.kind == .task }.map(\.name) == ["expire:a", "refused:late"])
    #expect(expired == [] && system.application.openBackgroundTasks == ["a", "on the return"])
    #expect(system.application.state == .active)
  }

  @Test func `a begin after expiration is refused: its handler runs when it has returned`() async throws {
    try await system.play("launch; task:begin:a; home; wait:26s")
    var called = 0
    let late = application.beginBackgroundTask(named: "late") { _ in called += 1 }
    #expect(called == 0)
    await system.clock.settle()
    #expect(called == 1)
    #expect(system.record.last?.kind == .task && system.record.last?.name == "refused:late")
    // Ended once, as any other; the second time it is a mistake.
    late.end()
    #expect(system.record.last?.name == "refused:late")
    late.end()
    #expect(system.record.last?.kind == .report && system.record.last?.name == "taskEndedTwice:late")
    // It gives no time, and is not missed at the end; a new stay takes tasks again.
    try await system.play("open")
    let again = application.beginBackgroundTask(named: "again") { _ in called += 1 }
    await system.clock.settle()
    #expect(called == 1)
    again.end()
  }

  @Test func `without a process there is no time to give, and no record of it`() async throws {
    var called = 0
    let early = application.beginBackgroundTask(named: "early") { _ in called += 1 }
    await system.clock.settle()
    #expect(called == 1 && system.record.isEmpty)
    try await system.play("launch; home; wait:5s")
    #expect(application.state == .suspended)
    early.end()
    #expect(!system.record.contains { $0.kind == .report })
  }

  @Test func `a handler may begin a task, which is refused`() async throws {
    try await system.play("launch")
    var inner: [String] = []
    let outer = application.beginBackgroundTask(named: "outer") { _ in
      let task = application.beginBackgroundTask(named: "inner") { task in
        task.end()
        inner.append("refused")
      }
      inner.append("returned \(task.name)")
    }
    let record = try await system.play("home; wait:1m")
    withExtendedLifetime(outer) {}
    #expect(inner == ["returned inner", "refused"])
    #expect(
      events(record).suffix(4) == [
        "25.0 expire:outer", "25.0 refused:inner", "30.0 backgroundTimeExpired:outer", "30.0 notRunning",
      ])
  }

  // MARK: The end of a task

  @Test func `a task that is released without having been ended stays open, and is reported`() async throws {
    try await system.play("launch")
    _ = application.beginBackgroundTask(named: "leaked")
    let record = try await system.play("home; wait:1m")
    #expect(
      events(record).suffix(3) == ["25.0 expire:leaked", "30.0 backgroundTimeExpired:leaked", "30.0 notRunning"])
  }

  @Test func `ending a task twice is reported each time, and ends nothing else`() async throws {
    try await system.play("launch")
    let (one, other) = (
      application.beginBackgroundTask(named: "save"), application.beginBackgroundTask(named: "save")
    )
    for _ in 1...3 { one.end() }
    #expect(events().suffix(2) == ["0.0 taskEndedTwice:save", "0.0 taskEndedTwice:save"])
    #expect(system.record.last?.cause == "task:end:save", "between scripts, in its own name")
    try await system.play("home; wait:20s")
    #expect(application.state == .background)
    other.end()
    await system.clock.settle()
    #expect(application.state == .suspended)
  }

  @Test(arguments: ["kill", "crash", "reboot", "wait:1m; suspend; reclaim"])
  func `tasks and modes go with their process`(end: String) async throws {
    try await system.play("launch")
    let task = application.beginBackgroundTask(named: "save") { _ in Issue.record("expired") }
    let mode = application.beginBackgroundMode()
    try await system.play("home; \(end); launch")
    let reports = system.record.count { $0.kind == .report || $0.kind == .task }
    #expect(reports == 0)
    let record = try await system.play("home; wait:1s")
    task.end()
    task.end()
    mode.end()
    try await system.play("wait:1h")
    // From the input of the wait on, which came with the commit of background.
    let left = try #require(record.last?.instant)
    #expect(events().last == "\((left + .seconds(5)) / .seconds(1)) suspended")
    #expect(!system.record.contains { $0.kind == .report || $0.kind == .task })
  }

  // MARK: Modes

  @Test func `an application in a mode is never suspended, and a new stay begins with the end of the last`()
    async throws
  {
    try await system.play("launch; task:begin:a; home; wait:24s")
    let (audio, location) = (application.beginBackgroundMode(), application.beginBackgroundMode())
    try await system.play("wait:1d; task:begin:b; wait:1d")
    audio.end()
    audio.end()
    try await system.play("wait:1h")
    #expect(events().last == "0.0 background")
    location.end()
    let record = try await system.play("wait:24s; task:end:a; wait:1s")
    let end = Duration.seconds(24 + 2 * 86_400 + 3_600)
    #expect(events(record) == ["\((end + .seconds(25)) / .seconds(1)) expire:b"])
  }

  @Test func `a mode may be begun before the launch, and stands on when no code keeps it`() async throws {
    application.beginBackgroundMode()
    try await system.play("launch:background; wait:1d")
    #expect(application.state == .background)
    try await system.play("kill; launch:background; wait:1d")
    #expect(application.state == .suspended)
  }

  // MARK: Operations

  @Test func `an operation has the time that it takes`() async throws {
    var log: [String] = []
    try await system.play("launch")
    let clock = system.clock
    let operation = application.performBackgroundTask(named: "save") {
      log.append("begins")
      try? await clock.sleep(for: .seconds(12))
      log.append(Task.isCancelled ? "cancelled" : "ends")
    }
    log.append("returned")
    let record = try await system.play("home; wait:1m")
    await operation.value
    #expect(log == ["returned", "begins", "ends"])
    #expect(events(record).last == "12.0 suspended")
    #expect(!record.contains { $0.kind == .task || $0.kind == .report })
  }

  @Test func `at its expiration it is cancelled, and what it still does is awaited`() async throws {
    var log: [String] = []
    try await system.play("launch")
    let clock = system.clock
    application.performBackgroundTask(named: "upload") {
      do {
        try await clock.sleep(for: .seconds(3_600))
      } catch {
        log.append("cancelled at \(clock.now.offset / .seconds(1))")
      }
      // A task of its own does not hear of the cancellation, as one that must clean up.
      await Task(executorPreference: clock.executor) { try? await clock.sleep(for: .seconds(2)) }.value
      log.append("ends at \(clock.now.offset / .seconds(1))")
    }
    let record = try await system.play("home; wait:1m")
    #expect(log == ["cancelled at 25.0", "ends at 27.0"])
    #expect(events(record).suffix(2) == ["25.0 expire:upload", "27.0 suspended"])
  }

  @Test func `one that ignores its cancellation is reported and purged`() async throws {
    let (gate, opener) = AsyncStream.makeStream(of: Void.self)
    try await system.play("launch")
    let operation = application.performBackgroundTask(named: "deaf") {
      await Task.detached { for await _ in gate {} }.value
    }
    let record = try await system.play("home; wait:1m")
    opener.finish()
    await operation.value
    #expect(
      events(record).suffix(3) == ["25.0 expire:deaf", "30.0 backgroundTimeExpired:deaf", "30.0 notRunning"])
    #expect(!system.record.contains { $0.name.hasPrefix("taskEndedTwice") })
  }

  @Test func `one that is refused runs, cancelled from the beginning`() async throws {
    try await system.play("launch; task:begin:a; home; wait:27s")
    var wasCancelled: Bool?
    let operation = application.performBackgroundTask(named: "late") { wasCancelled = Task.isCancelled }
    await operation.value
    #expect(wasCancelled == true)
    #expect(system.record.filter { $0.kind == .task }.map(\.name) == ["expire:a", "refused:late"])
  }

  @Test func `one whose process vanishes is cancelled`() async throws {
    var log: [String] = []
    try await system.play("launch")
    let clock = system.clock
    for name in ["one", "two", "three"] {
      application.performBackgroundTask(named: name) {
        try? await clock.sleep(for: .seconds(3_600))
        log.append("\(name) \(Task.isCancelled)")
      }
    }
    try await system.play("home; crash; launch; home; wait:1m")
    #expect(log == ["one true", "two true", "three true"])
    #expect(application.state == .suspended)
  }

  // MARK: The system's clock

  @Test func `a suspension belongs to the stay that it ends`() async throws {
    try await system.play("launch; home; wait:4s")
    // Both wait in the queue when the stay's time is up.
    system.application.send(.open)
    system.application.send(.home)
    try await system.clock.advance(by: .seconds(1))
    #expect(application.state == .background)
    try await system.clock.advance(by: .milliseconds(3_999))
    #expect(application.state == .background)
    try await system.clock.advance(by: .milliseconds(1))
    #expect(application.state == .suspended)
  }

  @Test func `inputs that were sent at the end of a stay, before its clock struck, save it`() async throws {
    try await system.play("launch; home; wait:4s")
    let (clock, application) = (system.clock, system.application)
    // Sleeps until the same instant; the first sleeper wakes first, and that is the stay.
    await clock.running {
      try? await clock.sleep(for: .milliseconds(999))
      application.send(.open)
      application.send(.home)
    }
    try await clock.advance(by: .seconds(3))
    #expect(application.state == .background)
    #expect(!system.record.contains { $0.state == .suspended })
  }

  @Test func `a clock that strikes during a transition waits for its end`() async throws {
    var configuration = Application.Configuration()
    configuration.didEnterBackgroundBudget = .seconds(100)
    let slow = SimulatedSystem(configuration: configuration)
    try slow.application.manage("slow", while: .foreground) {
    } release: { [clock = slow.clock] _ in
      try await clock.sleep(for: .seconds(40))
    }
    let record = try await slow.play("launch; task:begin:a; home")
    #expect(
      events(record).suffix(3) == ["40.0 expire:a", "40.0 backgroundTimeExpired:a", "40.0 notRunning"])
  }

  @Test func `an application whose host does not enforce the clocks is left alone`() async throws {
    let clock = ManualClock()
    let application = Application(delegate: Bare(), clock: clock)
    var record: [String] = []
    let token = application.observe { if let new = $0.record { record.append("\(new.kind.rawValue) \(new.name)") } }
    defer { token.cancel() }
    _ = await clock.running { await application.handle(.launchInBackground) }
    let task = application.beginBackgroundTask(named: "long") { _ in Issue.record("expired") }
    try await clock.advance(by: .seconds(86_400))
    #expect(application.state == .background)
    #expect(application.remainingBackgroundTime == .zero)
    task.end()
    task.end()
    #expect(record.last == "report taskEndedTwice:long")
    #expect(clock.sleepers == 0)
  }

  @Test func `a system that is released leaves neither sleeper nor operation behind`() async throws {
    weak var application: Application?
    let clock: ManualClock
    do {
      let system = SimulatedSystem()
      (application, clock) = (system.application, system.clock)
      try await system.play("launch")
      system.application.performBackgroundTask(named: "long") { try? await clock.sleep(for: .seconds(3_600)) }
      try await system.play("home; wait:1s")
      #expect(clock.sleepers == 2)
    }
    await clock.settle()
    #expect(application == nil)
    #expect(clock.sleepers == 0)
  }
}

@MainActor private final class Held {
  var task: Application.BackgroundTask?
}

@MainActor private final class Bare: ApplicationDelegate {}
