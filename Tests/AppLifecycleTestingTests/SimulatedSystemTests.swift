import AppLifecycle
import AppLifecycleTesting
import PubSub
import TestTraits
import Testing

@Suite(.timeLimit(.hang)) @MainActor struct SimulatedSystemTests {
  // MARK: The system's clock

  @Test(
    arguments: [
      ("launch; home; wait:4999ms", []), ("launch; home; wait:5s", ["5.0"]),
      ("launch; home; wait:4s; wait:1s", ["5.0"]),
      ("launch; home; wait:1d", ["5.0"]), ("launch:background; wait:5s", ["5.0"]),
      ("launch; lock; wait:5s", ["5.0"]), ("launch; switcher; switcher:leave; wait:5s", ["5.0"]),
      ("launch; home; wait:3s; suspend; wait:1h", ["3.0"]),
      // A wake-up begins a new stay.
      ("launch; home; wait:1m; wake; wait:4s; wait:1s", ["5.0", "65.0"]),
      ("launch; home; wait:1m; fetch; wait:1m", ["5.0", "65.0"]),
      // So does a return and a second home.
      ("launch; home; wait:3s; open; wait:1h; home; wait:4s; wait:1s", ["3608.0"]),
      ("launch; home; wait:3s; open; home; wait:3s", []),
      // Things that commit no state do not: what happens in the background does not prolong the stay.
      ("launch; home; wait:3s; memory; time; lock; wait:2s", ["5.0"]),
      // No stay outlives its process.
      ("launch; home; wait:3s; kill; launch:background; wait:3s; wait:2s", ["8.0"]),
      ("launch; home; crash; wait:1d", []),
      ("launch; wait:1d", []),
    ] as [(String, [String])])
  func `an application is suspended when its stay in the background ends`(script: String, times: [String]) async throws
  {
    let system = SimulatedSystem()
    try await system.play(script)
    let suspensions = system.record.filter { $0.kind == .state && $0.state == .suspended }
    #expect(suspensions.map { $0.instant } == times.map { .milliseconds(Int(Double($0)! * 1_000)) })
  }

  @Test func `what the system's clock does has the running token as its cause, and no input`() async throws {
    let system = SimulatedSystem()
    let record = try await system.play("launch; home; wait:4s; wait:2s")
    #expect(record.suffix(2).map(\.name) == ["wait:2s", "suspended"])
    #expect(record.last?.cause == "wait:2s")
    #expect(record.last?.instant == .seconds(5))
  }

  @Test func `between scripts the clock acts in its own name`() async throws {
    let system = SimulatedSystem()
    try await system.play("launch; home")
    try await system.clock.advance(by: .seconds(5))
    #expect(system.application.state == .suspended)
    #expect(system.record.last?.cause == "suspend")
  }

  @Test func `the stay is configurable`() async throws {
    var configuration = Application.Configuration()
    configuration.backgroundStay = .seconds(60)
    let system = SimulatedSystem(configuration: configuration)
    let record = try await system.play("launch; home; wait:59s; wait:2s")
    #expect(record.last?.instant == .seconds(60))
    #expect(system.application.state == .suspended)
  }

  @Test func `time that a tear-down takes counts as part of the stay`() async throws {
    let system = SimulatedSystem()
    let clock = system.clock
    try system.application.manage("slow", while: .foreground) {
    } release: { _ in
      try await clock.sleep(for: .seconds(2))
    }
    try await system.play("launch; home")
    #expect(clock.now.offset == .seconds(2))
    let record = try await system.play("wait:5s")
    #expect(record.last?.state == .suspended)
    #expect(record.last?.instant == .seconds(5))
    #expect(clock.now.offset == .seconds(7))
  }

  @Test func `immense waits add up without overflowing`() async throws {
    let system = SimulatedSystem()
    try await system.play("launch; home; " + String(repeating: "wait:999999999999d ", count: 300))
    #expect(system.application.state == .suspended)
    #expect(system.clock.now.offset == .seconds(Int64.max))
  }

  // MARK: Scripts

  @Test func `a mistake at the end of a script has no effect at all`() async {
    let system = SimulatedSystem()
    let error = await #expect(throws: ScriptError.self) { try await system.play("launch; home\n wait:5") }
    #expect(error?.description.hasPrefix("2:2: ") == true)
    #expect(system.record.isEmpty)
    #expect(system.application.state == .notRunning)
  }

  @Test func `a script goes on where the last one ended, and returns its own part of the record`() async throws {
    let system = SimulatedSystem()
    let first = try await system.play("launch; home; wait:1d")
    let second = try await system.play("open")
    #expect(system.record == first + second)
    #expect(second.callbacks == ["willEnterForeground (background)", "didBecomeActive (active)"])
    #expect(
      second.notifications == [
        "UIApplicationWillEnterForegroundNotification", "UIApplicationDidBecomeActiveNotification",
      ])
    #expect(second.states == [.background, .inactive, .active])
    #expect(second.first?.instant == .seconds(86_400))
  }

  @Test func `what cannot be done is ignored with a reason, after its input, and the script goes on`() async throws {
    let system = SimulatedSystem()
    let record = try await system.play("home; launch; launch; lock; open; scene:open:main; unlock")
    #expect(record.ignored.map(\.name) == ["home", "launch", "open", "scene:open:main"])
    #expect(record.ignored.map(\.cause.rawValue) == ["home", "launch", "open", "scene:open:main"])
    #expect(record.ignored.map(\.state) == [.notRunning, .active, .background, .background])
    #expect(
      record.ignored.map(\.reason) == [
        "the application is not in the foreground", "the application is running already", "the screen is locked",
        "an application without scenes has no windows",
      ])
    for index in record.indices where record[index].kind == .ignored {
      #expect(record[index - 1].kind == .input && record[index - 1].name == record[index].name)
    }
    #expect(system.application.state == .active)
  }

  @Test func `a time change while suspended leaves nothing but its input until the return`() async throws {
    let system = SimulatedSystem()
    try await system.play("launch; home; suspend")
    #expect(try await system.play("time").map(\.kind) == [.input])
    #expect(
      try await system.play("open").callbacks == [
        "willEnterForeground (background)", "significantTimeChange (inactive)", "didBecomeActive (active)",
      ])
  }

  // MARK: The application is real

  @Test func `the delegate is called and notifications are posted as the record says`() async throws {
    let delegate = NotingDelegate()
    let system = SimulatedSystem { delegate }
    var posted: [String] = []
    let subscription = system.bus.subscribeToAll { event in
      MainActor.assumeIsolated {
        guard let event = event as? any ApplicationEvent else { return }
        posted.append("\(type(of: event).name.rawValue) (\(event.application.state.rawValue))")
      }
    }
    let record = try await system.play("launch; home; wait:1d; open; kill")
    #expect(delegate.calls == record.callbacks)
    let expected = record.filter { $0.kind == .notification }.map { "\($0.name) (\($0.state.rawValue))" }
    #expect(posted.filter { !$0.hasPrefix("Application.StateDidChange") } == expected)
    #expect(expected.count == 9)
    subscription.cancel()
  }

  /// Notes at each step whether the application is the shared one.
  @MainActor fileprivate final class SharingDelegate {
    var steps: [String] = []

    func note(_ step: String, _ application: Application) {
      steps.append("\(step) \(Application.current === application)")
    }
  }

  @Test func `code that a script runs has the system's application as the shared one`() async throws {
    let (delegate, other) = (SharingDelegate(), SimulatedSystem())
    let system = SimulatedSystem { delegate }
    try await Application.withShared(other.application) {
      _ = try await system.play("launch; home; wait:2s")
      #expect(Application.current === other.application)
    }
    #expect(delegate.steps == ["launched true", "active true", "handler true", "task true"])
  }

  @Test func `a system that is released leaves nothing behind`() async throws {
    weak var application: Application?
    weak var clock: ManualClock?
    do {
      let system = SimulatedSystem()
      application = system.application
      clock = system.clock
      try await system.play("launch; home; wait:1s")
      #expect(application != nil && clock?.sleepers == 1)
    }
    let leftClock = clock
    await leftClock?.settle()
    #expect(application == nil)
    #expect((leftClock?.sleepers ?? 0) == 0)
  }

  // MARK: The same script, the same record

  @Test func `a hundred runs with resources and asynchronous handlers are equal, byte for byte`() async throws {
    let first = try await busyRun(order: .fifo)
    #expect(first.foreignWakeUps == 0)
    #expect(first.trace.count > 40)
    for _ in 0..<100 {
      let next = try await busyRun(order: .fifo)
      #expect(next == first)
      guard next == first else { return }
    }
  }

  @Test func `a seed gives the same run again, and resources stay balanced in every order`() async throws {
    for seed in UInt64(0)..<60 {
      let run = try await busyRun(order: .seeded(seed))
      #expect(try await busyRun(order: .seeded(seed)) == run, "seed \(seed)")
      for name in ["database", "socket", "ticker"] {
        let own = run.trace.filter { $0.contains(name) }.map { $0.split(separator: " ")[0] }
        let alternates = zip(own, own.dropFirst()).allSatisfy { $0 != $1 }
        #expect(alternates && own.first == "acquired" && own.last == "released", "seed \(seed), \(name): \(own)")
      }
      #expect(run.callbacks == busyCallbacks, "seed \(seed)")
    }
  }

  private let busyCallbacks = [
    "willFinishLaunching (inactive)", "didFinishLaunching (inactive)", "didBecomeActive (active)",
    "willResignActive (active)", "didBecomeActive (active)", "willResignActive (active)",
    "didEnterBackground (background)", "willEnterForeground (background)", "didBecomeActive (active)",
    "willResignActive (active)", "didEnterBackground (background)", "willTerminate (background)",
  ]

  private struct Run: Equatable {
    var json: String
    var callbacks: [String]
    var trace: [String]
    var foreignWakeUps: Int
  }

  /// A program with dependent resources, one that fails at first, and asynchronous handlers on the main actor and off it.
  private func busyRun(order: SimulationExecutor.Order) async throws -> Run {
    let system = SimulatedSystem(order: order)
    let (clock, application, trace) = (system.clock, system.application, Trace())
    let write: @Sendable (String) -> Void = { trace.write("\($0) at \(clock.now.offset)") }
    func duration(_ milliseconds: Int) -> Duration { .milliseconds(milliseconds) }

    let database = try application.manage("database", while: .running) {
      try await clock.sleep(for: duration(30))
      write("acquired database")
    } release: { _ in
      try await clock.sleep(for: duration(20))
      write("released database")
    }
    var attempts = 0
    let socket = try application.manage("socket", while: .foreground, after: database) { _ in
      attempts += 1
      if attempts == 1 { throw CancellationError() }
      try await clock.sleep(for: duration(50))
      write("acquired socket")
    } release: { _ in
      await offMain()
      write("released socket")
    }
    try application.manage("ticker", while: .active, after: socket) { _ in
      write("acquired ticker")
    } release: { _ in
      // A quick return cuts it short.
      try? await clock.sleep(for: duration(5))
      write("released ticker")
    }
    var subscriptions: [EventBus.Subscription] = []
    for number in 0..<4 {
      system.bus.receive(Application.DidBecomeActive.self) { _ in
        write("active \(number)")
        try await clock.sleep(for: duration(number * 10 % 30))
        await offMain()
        write("active \(number), later")
      }.store(in: &subscriptions)
      system.bus.receive(Application.DidEnterBackground.self) { _ in
        await offMain()
        write("background \(number)")
      }.store(in: &subscriptions)
    }
    try await system.play(
      "launch; wait:2s; interrupt:call; end:call; wait:1s; home; wait:1d; open; wait:3s; kill; wait:1m")
    return Run(
      json: system.record.jsonLines, callbacks: system.record.callbacks, trace: trace.lines,
      foreignWakeUps: clock.executor.foreignWakeUps)
  }
}

@concurrent private func offMain() async { await Task.yield() }

@MainActor private final class NotingDelegate {
  var calls: [String] = []

  func note(_ callback: ApplicationCallback, _ application: Application) {
    calls.append("\(callback.shortName) (\(application.state.rawValue))")
  }
}

extension NotingDelegate: ApplicationDelegate {
  func applicationWillFinishLaunching(_ application: Application) { note(.willFinishLaunching, application) }
  func applicationDidFinishLaunching(_ application: Application) { note(.didFinishLaunching, application) }
  func applicationDidBecomeActive(_ application: Application) { note(.didBecomeActive, application) }
  func applicationWillResignActive(_ application: Application) { note(.willResignActive, application) }
  func applicationDidEnterBackground(_ application: Application) { note(.didEnterBackground, application) }
  func applicationWillEnterForeground(_ application: Application) { note(.willEnterForeground, application) }
  func applicationWillTerminate(_ application: Application) { note(.willTerminate, application) }
}

extension SimulatedSystemTests.SharingDelegate: ApplicationDelegate {
  func applicationDidFinishLaunching(_ application: Application) {
    note("launched", application)
    application.bus.subscribe(to: Application.DidBecomeActive.self, for: self) { delegate, event in
      delegate.note("active", event.application)
    }
    application.bus.receive(Application.DidEnterBackground.self, for: self) { delegate, event in
      await Task.yield()
      delegate.note("handler", event.application)
      event.application.task { [application = event.application] in
        try? await application.clock.sleep(for: .seconds(1))
        delegate.note("task", application)
      }
    }
  }
}
