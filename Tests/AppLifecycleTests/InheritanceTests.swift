import AppLifecycle
import AppLifecycleTesting
import PubSub
import TestTraits
import Testing

/// A request of a server, whose context must not stay in what the application does for all requests.
private enum Request {
  @TaskLocal static var id: Int?
}

/// Notes the context in which each piece of work runs, and lets a test wait for it.
@MainActor private final class Contexts {
  private(set) var lines: Set<String> = []
  private var waiters: [CheckedContinuation<Void, Never>] = []

  func note(_ name: String) {
    lines.insert(
      "\(name): request \(Request.id.map(String.init) ?? "none"), priority \(Task.currentPriority.rawValue)")
    for waiter in waiters { waiter.resume() }
    waiters = []
  }

  /// Waits until all of the names have been noted.
  func until(_ names: [String]) async {
    while !names.allSatisfy({ name in lines.contains { $0.hasPrefix(name + ":") } }) {
      await withCheckedContinuation { waiters.append($0) }
    }
  }
}

private struct Broken: Error {}

@MainActor private final class Component {
  let contexts: Contexts
  init(_ contexts: Contexts) { self.contexts = contexts }
}

private final class EmptyDelegate: ApplicationDelegate {}

/// What the application runs for all its components inherits nothing from the code that happens to cause it.
@Suite(.timeLimit(.hang)) @MainActor struct `Work of the application` {
  private let contexts = Contexts()

  /// Registers and causes work of every kind, inside a request of low priority, and waits for it.
  private func exercise(_ application: Application) async throws {
    let component = Component(contexts)
    try await inRequest { [contexts] in
      var attempts = 0
      let feed = try application.manage("feed", while: .running, checkEvery: .milliseconds(1)) {
        attempts += 1
        contexts.note("acquire \(min(attempts, 3))")
        return attempts
      } run: { number in
        contexts.note("loop \(min(number, 3))")
        await forever()
      } check: { number in
        contexts.note("check \(min(number, 3))")
      } release: { number in
        contexts.note("release \(min(number, 3))")
      }
      let sick = try application.manage(
        "sick", while: .running, retry: RetryPolicy(first: .seconds(86_400), longest: .seconds(86_400))
      ) {
        contexts.note("attempt")
        if !contexts.lines.contains(where: { $0.hasPrefix("retry:") }) {
          contexts.note("retry")
          throw Broken()
        }
      }
      application.run(component, while: .running, after: feed) { component, _ in component.contexts.note("body") }
      application.task { contexts.note("task") }
      application.task(component) { $0.contexts.note("task of an owner") }
      application.task(component, every: .milliseconds(1)) { $0.contexts.note("periodic task") }
      application.performBackgroundTask(named: "save") { contexts.note("background task") }
      await contexts.until(["check 1", "body", "task", "task of an owner", "periodic task", "background task", "retry"])
      feed.invalidate(because: Broken())
      await contexts.until(["check 2"])
      feed.invalidate(because: Broken())
      sick.retry()
      await contexts.until(["acquire 3", "loop 3", "release 1", "release 2"])
    }
  }

  private func inRequest(_ body: @escaping @MainActor @Sendable () async throws -> Void) async throws {
    try await Task(priority: .background) { try await Request.$id.withValue(4711) { try await body() } }.value
  }

  @Test func `inherits neither task-local values nor the priority of its caller`() async throws {
    let application = Application(delegate: EmptyDelegate())
    await application.handle(.launch)
    try await exercise(application)
    #expect(contexts.lines.filter { !$0.hasSuffix("request none, priority \(TaskPriority.high.rawValue)") } == [])
    await application.handle(.shutDown)
  }

  @Test func `inherits no task-local value in a simulation`() async throws {
    let system = SimulatedSystem()
    try await system.play("launch")
    try await system.clock.running {
      try await Request.$id.withValue(4711) { try await self.register(system.application) }
    }
    try await system.play("wait:10s; home; wait:10s; kill")
    #expect(contexts.lines.filter { !$0.contains("request none") } == [])
    #expect(contexts.lines.contains { $0.hasPrefix("release") })
  }

  private func register(_ application: Application) async throws {
    let component = Component(contexts)
    try application.manage("feed", while: .foreground, checkEvery: .seconds(1)) { [contexts] in
      contexts.note("acquire")
    } run: { [contexts] _ in
      contexts.note("loop")
      await forever()
    } check: { [contexts] _ in
      contexts.note("check")
    } release: { [contexts] _ in
      contexts.note("release")
    }
    application.run(component, while: .active) { component in component.contexts.note("body") }
    application.task(component, every: .seconds(1)) { $0.contexts.note("periodic task") }
    await contexts.until(["acquire", "body", "periodic task"])
  }
}

/// Suspends until the task is cancelled.
private func forever() async {
  let (stream, _) = AsyncStream<Never>.makeStream()
  for await _ in stream {}
}
