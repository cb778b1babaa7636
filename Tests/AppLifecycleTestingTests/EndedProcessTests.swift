import AppLifecycle
import AppLifecycleTesting
import PubSub
import TestTraits
import Testing

private struct Ping: MainActorEvent {}

/// Saved state is accused of the crash of the process that restored it, and only of that.
@Suite(.timeLimit(.hang)) @MainActor struct `A crash of a process that has restored state` {
  @Test(arguments: [("crash", true), ("do:quit; crash", false)])
  func `is noted, but not one that comes too late`(end: String, isNoted: Bool) async throws {
    let system = SimulatedSystem()
    let (storage, clock) = (system.stateStorage, system.clock)
    try system.application.manage("store", while: .running) {
    } release: {
      try? await clock.sleep(for: .seconds(1))
    }
    system.addAction("quit") { [application = system.application] in application.send(.terminate) }
    try await system.play("launch")
    _ = try storage.open()
    storage.note(.restored)
    try await system.play(end)
    #expect(system.application.state == .notRunning && system.hasEndedInOrder == !isNoted)
    #expect(try storage.open().hasCrashedAfterRestoring == isNoted)
  }
}

/// What outlives the processes of a test.
@MainActor private final class World {
  var log: [String] = []
  var processes = 0
  weak var system: SimulatedSystem?
  var answers: [UnsafeContinuation<Int, Never>] = []
}

@MainActor private final class Component {
  private let world: World
  private let number: Int

  init(_ world: World, _ number: Int) { (self.world, self.number) = (world, number) }

  func note(_ text: String) { world.log.append("\(text) of \(number)") }
}

/// A delegate that looks at the application while it is made and released.
@MainActor private final class Curious {
  private let world: World
  private let component: Component

  init(_ world: World) {
    world.processes += 1
    self.world = world
    component = Component(world, world.processes)
    world.system?.bus.post(Ping())
  }

  isolated deinit {
    let present = world.system?.application.delegate
    component.note("end, \(present === self ? "as the present delegate" : "replaced")")
  }
}

extension Curious: ApplicationDelegate {
  func applicationDidFinishLaunching(_ application: Application) {
    application.bus.subscribe(to: Ping.self, for: component) { component, _ in component.note("ping") }
  }
}

/// A delegate whose handler runs a body a second after an event, perhaps after the end of its process.
@MainActor private final class Late {
  private let world: World
  private(set) var connection: ManagedResource<Int>?

  init(_ world: World) {
    world.processes += 1
    self.world = world
  }
}

extension Late: ApplicationDelegate {
  func applicationDidFinishLaunching(_ application: Application) {
    guard let connection = try? application.manage("connection", while: .running, acquire: { 1 }) else { return }
    self.connection = connection
    let (world, number, clock) = (world, world.processes, application.clock)
    application.bus.receive(Ping.self, for: self) { late, _ async throws in
      try await clock.sleep(for: .seconds(1))
      application.run(late, while: .running, after: connection) { _, _ in world.log.append("body of \(number)") }
      await application.run(while: .running, after: connection) { _ in world.log.append("body of \(number)") }
      world.log.append("returns")
    }
  }
}

/// A delegate whose first acquire answers when the test wants it to.
@MainActor private final class Slow {
  private let world: World

  init(_ world: World) {
    world.processes += 1
    self.world = world
  }
}

extension Slow: ApplicationDelegate {
  func applicationDidFinishLaunching(_ application: Application) {
    let (world, number) = (world, world.processes)
    _ = try? application.manage("feed", while: .active) {
      world.log.append("acquire \(number)")
      return number == 1 ? await withUnsafeContinuation { world.answers.append($0) } : number
    } release: { _ in
      world.log.append("release \(number)")
    }
  }
}

@Suite(.timeLimit(.hang)) @MainActor struct `Code of a process that has ended` {
  private let world = World()

  @Test func `is released before the next delegate is made, which the old one may see`() async throws {
    let system = SimulatedSystem { [world] in Curious(world) }
    world.system = system
    try await system.play("launch; kill; launch")
    #expect(world.log == ["end, replaced of 1"])
    system.bus.post(Ping())
    #expect(world.log == ["end, replaced of 1", "ping of 2"])
  }

  @Test(arguments: ["kill", "crash"])
  func `gets a body that never begins`(end: String) async throws {
    let system = SimulatedSystem { [world] in Late(world) }
    system.addAction("ping") { [bus = system.bus] in bus.post(Ping()) }
    try await system.play("launch; do:ping; \(end); launch; wait:2s; kill; launch; wait:1m")
    #expect(world.log == ["returns"])
  }

  @Test func `registers a body between two processes, which goes with its resource`() async throws {
    let system = SimulatedSystem { [world] in Late(world) }
    weak let first = system.application.delegate
    system.addAction("ping") { [bus = system.bus] in bus.post(Ping()) }
    try await system.play("launch; do:ping; crash; wait:2s")
    #expect(first != nil)
    try await system.play("launch; wait:1m")
    #expect(first == nil && world.log == ["returns"])
    var areHeld = false
    system.application.task { [application = system.application] in
      await application.untilResourcesAreHeld()
      areHeld = true
    }
    try await system.play("wait:1s")
    #expect(areHeld)
  }

  @Test func `takes with it what the test has made dependent on it`() async throws {
    let system = SimulatedSystem { [world] in Late(world) }
    try await system.play("launch; crash")
    let old = try #require((system.application.delegate as? Late)?.connection)
    let mine = try system.application.manage("mine", while: .running, after: old) { $0 + 1 }
    try await system.play("launch; wait:1m")
    #expect(system.application.resources.map(\.name) == ["connection"])
    await #expect(throws: ResourceError.unmanaged("mine")) { try await mine.untilHeld() }
    // The old handle names no resource of the new process.
    #expect(throws: ResourceError.unknownDependency("connection", of: "mine")) {
      try system.application.manage("mine", while: .running, after: old) { $0 + 1 }
    }
  }

  /// An acquire that the end in order no longer awaited, because it was late before.
  @Test(arguments: ["kill", "crash"])
  func `acquires nothing for the next process`(end: String) async throws {
    let system = SimulatedSystem { [world] in Slow(world) }
    system.addAction("answer") { [world] in world.answers.removeFirst().resume(returning: 1) }
    try await system.play("launch; interrupt:alert; wait:10s; end:alert; interrupt:alert; \(end)")
    #expect(system.hasEndedInOrder == (end == "kill") && world.log == ["acquire 1"])
    try await system.play("launch; end:alert; do:answer")
    #expect(world.log == ["acquire 1", "acquire 2"])
  }
}
