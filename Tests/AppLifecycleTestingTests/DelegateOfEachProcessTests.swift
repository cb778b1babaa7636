import AppLifecycle
import AppLifecycleTesting
import Observation
import PubSub
import Synchronization
import TestTraits
import Testing

/// A delegate that sets up everything in its launch, without a look at what an earlier process has set up.
@MainActor private final class Program {
  struct Tick: MainActorEvent {}

  /// The calls and handlers of one process, in order, with its number.
  private let log: Log
  let number: Int

  init(_ log: Log) {
    log.processes += 1
    (self.log, number) = (log, log.processes)
  }

  func note(_ entry: String) { log.entries.append("\(number): \(entry)") }
}

@MainActor private final class Log {
  var processes = 0
  var entries: [String] = []
}

extension Program: ApplicationDelegate {
  func applicationDidFinishLaunching(_ application: Application) {
    note("launched")
    application.bus.subscribe(to: Tick.self, for: self) { program, _ in program.note("tick") }
    application.run(self, while: .running) { program in
      program.note("body")
      try? await application.clock.sleep(for: .seconds(86_400))
    }
    do {
      try application.manage("file", while: .running) { [weak self] in
        self?.note("acquire")
      } release: { [weak self] in
        self?.note("release")
      }
    } catch {
      note("\(error)")
    }
  }
}

/// A server that answers when the test wants it to.
@MainActor private final class Server {
  var answers: [UnsafeContinuation<Int, Never>] = []
}

@MainActor private final class Client {
  let server: Server
  var connection: ManagedResource<Int>?

  init(_ server: Server) { self.server = server }
}

extension Client: ApplicationDelegate {
  func applicationDidFinishLaunching(_ application: Application) {
    connection = try? application.manage("connection", while: .running) { [server] in
      // Ignores its cancellation.
      await withUnsafeContinuation { server.answers.append($0) }
    }
  }
}

private final class Window: SceneDelegate {}

@MainActor private final class Tabs {
  var windows: [Window] = []
}

extension Tabs: ApplicationDelegate {
  func application(_ application: Application, delegateFor scene: Application.Scene) -> (any SceneDelegate)? {
    windows.append(Window())
    return windows.last
  }
}

/// An object of the test, which outlives the processes.
@MainActor private final class Component {
  private let log: Log

  init(_ log: Log) { self.log = log }

  func setUp(_ application: Application) throws {
    application.bus.subscribe(to: Program.Tick.self, for: self) { component, _ in component.log.note("tick") }
    application.run(self, while: .running) { component in
      component.log.note("body")
      try? await application.clock.sleep(for: .seconds(86_400))
    }
    try application.manage("server", while: .running) { [log] in
      log.note("acquire")
    } release: { _ in
    }
  }
}

extension Log {
  fileprivate func note(_ entry: String) { entries.append("component: \(entry)") }
}

@Suite(.timeLimit(.hang)) @MainActor struct `A delegate for each process` {
  private let log = Log()
  private let system: SimulatedSystem

  init() { system = SimulatedSystem { [log] in Program(log) } }

  private var program: Program? { system.application.delegate as? Program }

  @Test(
    arguments: [
      "launch; crash; launch", "launch; kill; open", "launch; home; wait:6s; reclaim; launch:background",
      "launch; home; suspend; switcher:kill; fetch",
    ])
  func `a later process has a new delegate, and nothing of the earlier one`(script: String) async throws {
    try await system.play(script)
    #expect(program?.number == 2)
    #expect(system.application.resources.map(\.name) == ["file"])
    #expect(log.entries.suffix(3) == ["2: launched", "2: acquire", "2: body"])
    log.entries = []
    system.bus.post(Program.Tick())
    try await system.play("kill")
    #expect(log.entries == ["2: tick", "2: release"])
  }

  @Test func `the first delegate is made with the system, the others are made at a launch`() async throws {
    #expect(log.processes == 1)
    try await system.play("wait:1s; launch; launch; home; open")
    #expect(log.processes == 1)
    try await system.play("crash; launch:background; open")
    #expect(log.processes == 2)
  }

  @Test func `the delegate of a process that has ended stays until the next launch`() async throws {
    weak let first = program
    try await system.play("launch; kill; wait:1d")
    #expect(first != nil && program === first)
    try await system.play("launch")
    #expect(first == nil)
  }

  @Test(arguments: [true, false])
  func `what the test has set up before the launch stays, and what it has set up later goes`(isBefore: Bool)
    async throws
  {
    let component = Component(log)
    system.addAction("tick") { [bus = system.bus] in bus.post(Program.Tick()) }
    if isBefore { try component.setUp(system.application) }
    try await system.play("launch")
    if !isBefore { try component.setUp(system.application) }
    try await system.play("wait:1s")
    log.entries = []
    try await system.play("crash; launch; do:tick")
    let kept = isBefore ? ["component: acquire", "component: body"] : []
    #expect(log.entries.filter { $0.hasPrefix("component") } == kept + ["component: tick"])
    #expect(system.application.resources.map(\.name) == (isBefore ? ["server"] : []) + ["file"])
  }

  @Test func `a delegate of all processes sets up everything again`() async throws {
    let program = Program(log)
    let system = SimulatedSystem { program }
    for end in ["crash", "kill"] {
      log.entries = []
      try await system.play("launch")
      system.bus.post(Program.Tick())
      #expect(log.entries == ["2: launched", "2: acquire", "2: body", "2: tick"])
      try await system.play(end)
    }
  }

  @Test func `an acquire of an earlier process gives the next one nothing`() async throws {
    let server = Server()
    let system = SimulatedSystem { Client(server) }
    system.addAction("first", always: true) { server.answers[0].resume(returning: 1) }
    system.addAction("second", always: true) { server.answers[1].resume(returning: 2) }
    try await system.play("launch")
    let first = try #require((system.application.delegate as? Client)?.connection)
    try await system.play("crash; launch; do:first")
    let second = try #require((system.application.delegate as? Client)?.connection)
    #expect(first.current == nil && second.current == nil)
    await #expect(throws: ResourceError.unmanaged("connection")) { try await first.untilHeld() }
    try await system.play("do:second")
    #expect(first.current == nil && second.current == 2)
  }

  @Test func `the scenes of a later process have delegates of the new one`() async throws {
    let system = SimulatedSystem(profile: .scenes) { Tabs() }
    try await system.play("launch; crash; launch")
    #expect((system.application.delegate as? Tabs)?.windows.count == 1)
    #expect(system.application.scenes.count == 1)
  }

  @Test func `observation is told that the resources of an earlier process are gone`() async throws {
    try await system.play("launch; crash")
    let hasChanged = Mutex(false)
    withObservationTracking {
      #expect(system.application.resources.count == 1)
    } onChange: {
      hasChanged.withLock { $0 = true }
    }
    final class Bare: ApplicationDelegate {}
    system.application.makeDelegate = { Bare() }
    try await system.play("launch")
    #expect(hasChanged.withLock { $0 } && system.application.resources.isEmpty)
  }

  @Test func `without a delegate the test is the program, and keeps everything`() async throws {
    let system = SimulatedSystem()
    let component = Component(log)
    for process in 1...2 {
      log.entries = []
      try await system.play("launch")
      if process == 1 { try component.setUp(system.application) }
      try await system.play("wait:1s")
      system.bus.post(Program.Tick())
      #expect(log.entries == ["acquire", "body", "tick"].map { "component: \($0)" })
      try await system.play("crash")
    }
  }
}
