import AppLifecycle
import AppLifecycleTesting
import PubSub
import Scheduling
import TestTraits
import Testing

/// What interceptors bind.
private enum Bound {
  @TaskLocal static var names: [String] = []
}

/// Binds its name around each call, and notes the calls.
private final class Binding: CallInterceptor {
  let name: String
  private let noted = Guarded<[String]>([])
  private let traced = Guarded<[TracedCall]>([])

  init(_ name: String) { self.name = name }

  /// The calls and transitions as they began, ended and threw.
  var lines: [String] { noted.withLock { $0 } }
  var calls: [TracedCall] { traced.withLock { $0 } }

  func call(_ step: String) -> TracedCall? { calls.last { $0.step == step } }

  func intercept<Result>(_ call: TracedCall, _ operation: () throws -> Result) rethrows -> Result {
    begin(call)
    defer { note("end \(call.step)") }
    do {
      return try Bound.$names.withValue(Bound.names + [name]) { try operation() }
    } catch {
      note("error of \(call.step)")
      throw error
    }
  }

  nonisolated(nonsending) func intercept<Result>(
    _ call: TracedCall, _ operation: nonisolated(nonsending) () async throws -> Result
  ) async rethrows -> Result {
    begin(call)
    defer { note("end \(call.step)") }
    do {
      return try await Bound.$names.withValue(Bound.names + [name]) { try await operation() }
    } catch {
      note("error of \(call.step)")
      throw error
    }
  }

  nonisolated(nonsending) func intercept<Result>(
    _ transition: TracedTransition, _ operation: nonisolated(nonsending) () async -> Result
  ) async -> Result {
    note("transition \(transition.id): \(transition.cause.rawValue)")
    defer { note("end of transition \(transition.id)") }
    return await operation()
  }

  private func begin(_ call: TracedCall) {
    traced.withLock { $0.append(call) }
    note("begin \(call.step)")
  }

  private func note(_ line: String) { noted.withLock { $0.append(line) } }
}

/// Notes what is bound where each piece of code runs.
@MainActor private final class Notes {
  private(set) var lines: [String: [String]] = [:]
  private var waiters: [CheckedContinuation<Void, Never>] = []

  func note(_ name: String) {
    lines[name] = Bound.names
    for waiter in waiters { waiter.resume() }
    waiters = []
  }

  func until(_ names: [String]) async {
    while !names.allSatisfy({ lines[$0] != nil }) { await withCheckedContinuation { waiters.append($0) } }
  }
}

private struct Broken: Error {}

private actor Store {
  let notes: Notes
  init(_ notes: Notes) { self.notes = notes }

  func save() async {
    let names = Bound.names
    await notes.note("handler on an actor \(names.joined(separator: " "))")
  }
}

@MainActor private final class BoundDelegate {
  let notes: Notes
  init(_ notes: Notes) { self.notes = notes }
}

extension BoundDelegate: ApplicationDelegate {
  func applicationWillFinishLaunching(_ application: Application) { notes.note("delegate") }
  func applicationShouldTerminate(_ application: Application, cause: LifecycleCause) async -> TerminateReply {
    notes.note("question")
    return .now
  }
}

/// Is asked about windows and saved state.
@MainActor private final class WindowDelegate {
  private(set) var names: [String: [String]] = [:]
}

extension WindowDelegate: StateRestoringDelegate {
  func applicationWillRestoreState(_ application: Application) { names["restoration"] = Bound.names }
  func application(_ application: Application, delegateFor scene: Application.Scene) -> (any SceneDelegate)? {
    names["scene"] = Bound.names
    return nil
  }
}

@Suite(.timeLimit(.hang)) @MainActor struct `Interceptors` {
  private let notes = Notes()
  private let outer = Binding("outer")
  private let inner = Binding("inner")

  private var configuration: Application.Configuration {
    var configuration = Application.Configuration.unhurried
    configuration.interceptors = [outer, inner]
    return configuration
  }

  @Test func `run around the delegate's answers about windows and saved state`() async throws {
    let delegate = WindowDelegate()
    let system = SimulatedSystem(profile: .scenes, configuration: configuration) { delegate }
    try await system.play("launch")
    #expect(delegate.names == ["restoration": ["outer", "inner"], "scene": ["outer", "inner"]])
    let asked = outer.calls.filter { $0.step.contains("delegateFor") || $0.step.contains("Restore") }
    #expect(asked.count == 2)
  }

  @Test func `get the transition that asks the delegate about windows and saved state`() async throws {
    let delegate = WindowDelegate()
    let system = SimulatedSystem(profile: .scenes, configuration: configuration) { delegate }
    try await system.play("launch; scene:open:second")
    let asked = outer.calls.filter { $0.step.contains("delegateFor") || $0.step.contains("Restore") }
    let launch = try #require(outer.call("applicationDidFinishLaunching")?.transition)
    let opening = try #require(outer.call("sceneWillConnect")?.transition)
    #expect(asked.map(\.transition) == [launch, launch, opening])
    #expect(launch != opening)
  }

  @Test func `get a retry without the transition that waits meanwhile`() async throws {
    let system = SimulatedSystem(configuration: configuration)
    let token = system.bus.receive(Application.DidEnterBackground.self) { _ in
      try await system.clock.sleep(for: .seconds(3))
    }
    let isBroken = Guarded(true)
    let feed = try system.application.manage(
      "feed", while: .running, retry: RetryPolicy(first: .seconds(2), longest: .seconds(2), jitter: 0)
    ) {
      if isBroken.withLock({ $0 }) { throw Broken() }
    }
    try await system.play("launch; wait:1s")
    isBroken.withLock { $0 = false }
    try await system.play("home")
    withExtendedLifetime(token) {}
    #expect(feed.status == .held)
    #expect(outer.calls.filter { $0.step == "acquire" }.map(\.transition) == [1, nil])
  }

  @Test func `get a handler that the post of an earlier transition reaches later`() async throws {
    let system = SimulatedSystem(profile: .scenes, configuration: configuration)
    let clock = system.clock
    let tokens = [
      system.bus.receive(Application.Scene.DidDisconnect.self, priority: .low, label: "first") { _ in
        try await clock.sleep(for: .seconds(1))
      },
      system.bus.receive(Application.Scene.DidDisconnect.self, priority: .high, label: "second") { _ in },
      system.bus.receive(Application.DidEnterBackground.self) { _ in try await clock.sleep(for: .seconds(3)) },
    ]
    try await system.play("launch; scene:open:b; scene:background:b; scene:reclaim:b; home; wait:5s")
    withExtendedLifetime(tokens) {}
    let calls = ["first", "second"].map { name in outer.calls.filter { $0.name == name }.map(\.transition) }
    #expect(calls[0].count == 1 && calls[0] == calls[1], "\(calls)")
  }

  /// Registers code of every kind.
  private func register(in application: Application) throws -> [EventBus.Subscription] {
    let store = Store(notes)
    let feed = try application.manage("feed", while: .running, checkEvery: .milliseconds(1)) { [notes] in
      notes.note("acquire")
    } run: { [notes] _ in
      notes.note("loop")
      await forever()
    } check: { [notes] _ in
      notes.note("check")
    } release: { [notes] _ in
      notes.note("release")
    }
    application.run(self.notes, while: .running, after: feed) { notes, _ in
      notes.note("body")
      await forever()
    }
    application.task { [notes] in notes.note("task") }
    application.task(self.notes, every: .milliseconds(1)) { $0.note("periodic task") }
    application.performBackgroundTask(named: "early") { [notes] in notes.note("refused background task") }
    return [
      application.bus.subscribe(to: Application.DidFinishLaunching.self) { [weak application, notes] _ in
        notes.note("handler")
        application?.performBackgroundTask(named: "save") { notes.note("background task") }
      },
      application.bus.receive(Application.WillTerminate.self) { [notes] (_) async in notes.note("async handler") },
      application.bus.receive(Application.WillTerminate.self) { @concurrent _ in await store.save() },
    ]
  }

  private let kinds = [
    "delegate", "handler", "acquire", "check", "loop", "body", "task", "background task", "refused background task",
  ]
  private let kindsAtEnd = [
    "question", "async handler", "handler on an actor outer inner", "release",
  ]

  @Test func `run around every call, the first one outermost`() async throws {
    let application = Application(delegate: BoundDelegate(notes), configuration: configuration)
    let subscriptions = try register(in: application)
    await application.handle(.launch)
    await notes.until(kinds + ["periodic task"])
    await application.handle(.terminate)
    withExtendedLifetime(subscriptions) {}
    for kind in kinds + kindsAtEnd where kind != "handler on an actor outer inner" {
      #expect(notes.lines[kind] == ["outer", "inner"], "\(kind)")
    }
    // A resource has a name, and no position in the source.
    for step in ["acquire", "run", "check", "release"] {
      #expect(outer.call(step)?.name == "feed" && outer.call(step)?.source == nil, "\(step)")
    }
    #expect(notes.lines["handler on an actor outer inner"] != nil)
    // An action runs inside its task.
    #expect(notes.lines["periodic task"] == ["outer", "inner", "outer", "inner"])
  }

  @Test func `run around every call of a simulation, and change nothing in it`() async throws {
    func record(_ configuration: Application.Configuration) async throws -> [LifecycleRecord] {
      let system = SimulatedSystem(configuration: configuration) { [notes] in BoundDelegate(notes) }
      let subscriptions = try register(in: system.application)
      try await system.play("launch; wait:1s; home; open; quit")
      withExtendedLifetime(subscriptions) {}
      return system.record
    }
    let plain = try await record(Application.Configuration.unhurried)
    #expect(notes.lines["acquire"] == [])
    let intercepted = try await record(configuration)
    #expect(intercepted == plain)
    for kind in kinds + kindsAtEnd where kind != "handler on an actor outer inner" {
      #expect(notes.lines[kind] == ["outer", "inner"], "\(kind)")
    }
  }

  @Test func `get the transition, its calls inside it, and its number with a later acquire`() async throws {
    var configuration = Application.Configuration.unhurried
    configuration.interceptors = [outer]
    let application = Application(delegate: BoundDelegate(notes), configuration: configuration)
    var attempts = 0
    let resource = try application.manage(
      "feed", while: .running, retry: RetryPolicy(first: .milliseconds(1), longest: .milliseconds(1))
    ) {
      attempts += 1
      if attempts == 1 { throw Broken() }
    } release: { _ in
    }
    await application.handle(.launch, cause: "start")
    let transition = outer.lines.prefix { $0 != "end of transition 1" }
    #expect(transition.first == "transition 1: start")
    #expect(transition.contains("begin applicationDidFinishLaunching"))
    let acquire = try #require(outer.call("acquire"))
    #expect(acquire.transition == 1)
    #expect(!acquire.isLongRunning)
    try await resource.untilHeld()
    let retry = try #require(outer.call("acquire"))
    #expect(retry.transition == nil)
    #expect(outer.lines.contains("error of acquire"))
    await application.handle(.shutDown)
    #expect(outer.call("release")?.transition == outer.call("applicationWillTerminate")?.transition)
    #expect(outer.call("release")?.transition != nil)
  }

  @Test func `get the errors of handlers, which go on to the ledger`() async throws {
    var configuration = Application.Configuration.unhurried
    configuration.interceptors = [outer]
    let application = Application(delegate: BoundDelegate(notes), configuration: configuration)
    let subscriptions = [
      application.bus.subscribe(to: Application.DidFinishLaunching.self, label: "one") { _ in throw Broken() },
      application.bus.receive(Application.DidEnterBackground.self, label: "two") { (_) async throws in throw Broken() },
    ]
    await application.handle(.launch)
    await application.handle(.home)
    withExtendedLifetime(subscriptions) {}
    let failed = application.ledger.entries.filter { $0.outcome == .failed("Broken()") }
    #expect(failed.map(\.name) == ["one", "two"])
    #expect(
      outer.lines.filter { $0.hasPrefix("error") } == [
        "error of applicationDidFinishLaunching", "error of applicationDidEnterBackground",
      ])
  }

  @Test func `get loops, bodies and tasks as long-running`() async throws {
    let application = Application(delegate: BoundDelegate(notes), configuration: configuration)
    let subscriptions = try register(in: application)
    await application.handle(.launch)
    await notes.until(kinds)
    await application.handle(.shutDown)
    withExtendedLifetime(subscriptions) {}
    let long = Set(outer.calls.filter(\.isLongRunning).map(\.step))
    #expect(long == ["run", "run(while: .running)", "task", "backgroundTask"])
    #expect(outer.calls.allSatisfy { !$0.isLongRunning || $0.transition == nil })
    // Observers and interceptors know a call by the same number.
    #expect(Set(outer.calls.map(\.id)).count == outer.calls.count)
  }

  @Test func `are told of the calls that observers are told of, by the same numbers`() async throws {
    let system = SimulatedSystem(configuration: configuration) { [notes] in BoundDelegate(notes) }
    var observed: Set<TracedCall.ID> = []
    let token = system.application.observe { event in
      if case .callBegan(let call) = event { observed.insert(call.id) }
    }
    try await system.play("launch; home")
    token.cancel()
    #expect(!observed.isEmpty)
    #expect(observed == Set(outer.calls.map(\.id)))
  }
}

/// Suspends until the task is cancelled.
private func forever() async {
  let (stream, _) = AsyncStream<Never>.makeStream()
  for await _ in stream {}
}
