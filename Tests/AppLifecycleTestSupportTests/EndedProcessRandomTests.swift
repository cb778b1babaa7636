import AppLifecycle
import AppLifecycleTestSupport
import AppLifecycleTesting
import PubSub
import TestTraits
import Testing

private struct Tick: MainActorEvent {}
private struct Broken: Error {}

/// An object that a closure of the program captures.
private final class Token: Sendable {}

/// What outlives the processes of a run, and what it knows of their objects.
@MainActor private final class World {
  private struct Known {
    weak var object: AnyObject?
    let name: String
  }

  /// The number of the present process.
  private(set) var process = 0
  private var known: [Known] = []
  /// A resource of no process.
  var server: ManagedResource<Void>?
  /// The actions of code whose process had ended.
  private(set) var late: [String] = []

  func processBegins() -> Int {
    process += 1
    return process
  }

  func makeToken(_ name: String) -> Token {
    let token = Token()
    know(token, name)
    return token
  }

  func know(_ object: AnyObject, _ name: String) { known.append(Known(object: object, name: "\(name) of \(process)")) }

  func acts(_ name: String, in process: Int) { if process != self.process { late.append("\(name) of \(process)") } }

  /// The objects of earlier processes that are still alive.
  var survivors: [String] { known.filter { $0.object != nil }.map(\.name).filter { !$0.hasSuffix(" of \(process)") } }
}

/// A program with every kind of work that an application does for it; each closure captures a token.
@MainActor private final class Program {
  let world: World
  let process: Int
  private(set) var resources: [ManagedResource<Token>] = []
  private(set) var bodies: [ManagedRun] = []

  init(_ world: World) {
    (self.world, process) = (world, world.processBegins())
    world.know(self, "delegate")
  }

  private func acts(_ name: String) { world.acts(name, in: process) }

  private func manageResources(_ application: Application) throws {
    let (clock, token) = (application.clock, world.makeToken("resource"))
    let slow = try application.manage("slow", while: .running, checkEvery: .seconds(5)) { [weak self] in
      try await clock.sleep(for: .seconds(2))
      self?.acts("acquire")
      return token
    } check: { [weak self] _ in
      try await clock.sleep(for: .seconds(1))
      self?.acts("check")
      if clock.now.offset > .seconds(60) { throw Broken() }
    } release: { [weak self, token] _ in
      try await clock.sleep(for: .seconds(1))
      self?.acts("release")
      _ = token
    }
    var attempts = 0
    let failing = try application.manage("failing", while: .foreground, after: slow) { _ in
      attempts += 1
      if attempts % 3 != 0 { throw Broken() }
      return token
    } run: { [weak self, token] _ in
      try await clock.sleep(for: .seconds(7))
      self?.acts("loop")
      withExtendedLifetime(token) {}
      throw Broken()
    }
    let active = try application.manage("active", while: .active, after: slow, world.server!) { _, _ in
      token
    } run: { _ in
      await phaseCloses()
    }
    resources = [slow, failing, active]
  }

  private func startBodies(_ application: Application) {
    let (clock, token) = (application.clock, world.makeToken("body"))
    bodies = [
      application.run(self, while: .foreground, after: resources[2], resources[1]) { [token] program, _, _ in
        withExtendedLifetime(token) { program.acts("body") }
        try await clock.sleep(for: .seconds(3))
        throw Broken()
      },
      application.run(self, while: .active) { [token] program in
        withExtendedLifetime(token) { program.acts("body") }
        await phaseCloses()
      },
    ]
  }

  private func startTasks(_ application: Application) {
    let (clock, slow, token) = (application.clock, resources[0], world.makeToken("task"))
    application.task(self) { [token] _ in
      try await application.run(while: .active, after: slow) { _ in try await clock.sleep(for: .seconds(50)) }
      withExtendedLifetime(token) {}
    }
    application.task { await application.run(while: .foreground) { try? await clock.sleep(for: .seconds(1_000)) } }
    application.task(self, every: .seconds(3)) { $0.acts("repetition") }
    application.task { _ = try await slow.untilHeld() }
    application.task { await application.untilResourcesAreHeld() }
  }

  private func subscribe(_ application: Application) {
    let (clock, token) = (application.clock, world.makeToken("handler"))
    application.bus.subscribe(to: Tick.self, for: self) { [token] program, _ in
      withExtendedLifetime(token) { program.acts("handler") }
    }
    application.bus.receive(Tick.self, for: self) { [token] program, _ async in
      await Task.yield()
      withExtendedLifetime((program, token)) {}
    }
    application.bus.receive(Application.WillResignActive.self, for: self) { [token] program, _ in
      try? await clock.sleep(for: .seconds(1))
      withExtendedLifetime((program, token)) {}
    }
  }
}

extension Program: ApplicationDelegate {
  func application(_ application: Application, delegateFor scene: Application.Scene) -> (any SceneDelegate)? { self }

  func applicationDidFinishLaunching(_ application: Application) {
    do { try manageResources(application) } catch { preconditionFailure("\(error)") }
    startBodies(application)
    startTasks(application)
    subscribe(application)
  }

  func applicationDidEnterBackground(_ application: Application) {
    let (clock, token) = (application.clock, world.makeToken("background task"))
    application.performBackgroundTask(named: "upload") {
      try? await clock.sleep(for: .seconds(3))
      withExtendedLifetime(token) {}
    }
  }

  func applicationShouldTerminate(_ application: Application, cause: LifecycleCause) async -> TerminateReply {
    try? await application.clock.sleep(for: .seconds(1))
    return .now
  }
}

extension Program: SceneDelegate {}

@Suite(.timeLimit(.hang)) @MainActor struct `A process of a simulation` {
  /// Nothing of a process is alive, is managed or acts once the next one runs, whatever happens.
  @Test(arguments: [LifecycleProfile.application, .scenes])
  func `leaves nothing to the next one in random scripts`(profile: LifecycleProfile) async throws {
    let seed = UInt64.random(in: 0 ... .max)
    print("ended processes, \(profile): seed \(seed)")
    var alphabet = "\(ScriptAlphabet.extended) do:tick do:break do:useOld wait:1s wait:3s wait:7s switcher:kill"
    if profile == .scenes { alphabet += " scene:open:second scene:close:second scene:background:second" }
    try await checkRandomScripts(seed: seed, count: 150, length: 40, alphabet: alphabet) { run in
      let world = World()
      let system = SimulatedSystem(profile: profile, order: run.order) { Program(world) }
      let (application, clock) = (system.application, system.application.clock)
      world.server = try application.manage("server", while: .running) {
        try await clock.sleep(for: .milliseconds(500))
      } release: {
        try await clock.sleep(for: .milliseconds(500))
      }
      /// The bodies and resources of the latest process that has ended.
      var old: (bodies: [ManagedRun], resources: [ManagedResource<Token>]) = ([], [])
      system.addAction("tick", always: true) { [bus = system.bus] in bus.post(Tick()) }
      system.addAction("break", always: true) { [unowned application] in
        for resource in (application.delegate as? Program)?.resources ?? [] { resource.invalidate(because: Broken()) }
      }
      system.addAction("useOld") { [unowned application] in
        for body in old.bodies { body.cancel() }
        for resource in old.resources {
          resource.invalidate(because: Broken())
          resource.retry()
          try? application.unmanage(resource)
          application.run(world, while: .running, after: resource) { _, _ in world.acts("late body", in: 0) }
        }
      }
      run.afterEachAction { [unowned application] in
        run.expect(world.late.isEmpty, "late: \(world.late)")
        guard application.state.isInMemory else {
          if let program = application.delegate as? Program { old = (program.bodies, program.resources) }
          return
        }
        run.expect(world.survivors.isEmpty, "alive: \(world.survivors)")
        let names = application.resources.map(\.name)
        run.expect(names == ["server", "slow", "failing", "active"], "managed: \(names)")
      }
      return system
    }
  }
}
