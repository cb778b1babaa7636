import AppLifecycle
import AppLifecycleTesting
import PubSub
import TestTraits
import Testing

/// Background tasks that handlers of refused ones begin.
@MainActor @Suite(.timeLimit(.hang)) struct `Refused background tasks` {
  private let system = SimulatedSystem()
  private var application: Application { system.application }

  private var reports: [String] { system.record.filter { $0.kind == .report }.map(\.name) }

  /// Brings the application to where each new task is refused.
  private func expire() async throws { try await system.play("launch; task:begin:a; home; wait:26s") }

  @MainActor private final class Chain {
    let application: Application
    var calls = 0
    var depth = 0
    var deepest = 0
    /// The number of tasks that each handler begins.
    let width: Int
    /// The call that begins no further task, so that the test ends in any case.
    let last: Int

    init(_ application: Application, width: Int = 1, last: Int = 10_000) {
      (self.application, self.width, self.last) = (application, width, last)
    }

    func begin() {
      _ = application.beginBackgroundTask(named: "upload") { [self] task in
        calls += 1
        depth += 1
        deepest = max(deepest, depth)
        task.end()
        if calls < last { for _ in 0..<width { begin() } }
        depth -= 1
      }
    }

    /// Begins the next task later, in a task of the handler.
    func beginLater() {
      _ = application.beginBackgroundTask(named: "upload") { [self] task in
        calls += 1
        task.end()
        if calls < last { application.task { [self] in beginLater() } }
      }
    }

    func perform() {
      application.performBackgroundTask(named: "upload") { [self] in
        calls += 1
        if calls < last { perform() }
      }
    }
  }

  @Test(arguments: [1, 3]) func `are never nested, and end with a report`(width: Int) async throws {
    try await expire()
    let chain = Chain(application, width: width)
    chain.begin()
    #expect(chain.calls == 0)
    await system.clock.settle()
    #expect(chain.deepest == 1)
    #expect(chain.calls == 1_000)
    #expect(reports == ["refusedEndlessly:upload"])
  }

  @Test func `end with a report, also where each handler begins the next one later`() async throws {
    try await expire()
    let chain = Chain(application)
    chain.beginLater()
    await system.clock.settle()
    #expect(chain.calls == 1_000)
    #expect(reports == ["refusedEndlessly:upload"])
  }

  @Test func `end with a report, also as operations`() async throws {
    try await expire()
    let chain = Chain(application)
    chain.perform()
    await system.clock.settle()
    #expect(chain.calls == 1_000)
    #expect(reports == ["refusedEndlessly:upload"])
  }

  @Test func `end with a report without a process, too`() async throws {
    let chain = Chain(application)
    chain.begin()
    await system.clock.settle()
    #expect(chain.calls == 1_000)
    #expect(reports == ["refusedEndlessly:upload"])
  }

  @Test func `that a handler of an expired task begins end with a report`() async throws {
    try await system.play("launch")
    let chain = Chain(application)
    chain.begin()
    try await system.play("home; wait:1m")
    #expect(chain.deepest == 1)
    // That of the expired task, and those of a thousand more.
    #expect(chain.calls == 1_001)
    #expect(reports == ["refusedEndlessly:upload"])
  }

  /// A program may try a task for each of many uploads, and each must learn that it is refused.
  @Test func `are all called up to the limit`() async throws {
    try await expire()
    var called: [Int] = []
    for number in 0..<1_000 {
      _ = application.beginBackgroundTask(named: "upload \(number)") { task in
        called.append(number)
        task.end()
      }
    }
    await system.clock.settle()
    #expect(called == Array(0..<1_000))
    #expect(reports == [])
  }

  @Test func `are called again after a change of state`() async throws {
    try await expire()
    let first = Chain(application)
    first.begin()
    try await system.play("open; home; task:begin:b; wait:26s")
    let second = Chain(application, last: 50)
    second.begin()
    await system.clock.settle()
    #expect(second.calls == 50)
    #expect(reports == ["refusedEndlessly:upload"])
  }

  @Test func `that have ended before are not called`() async throws {
    try await expire()
    let task = application.beginBackgroundTask(named: "late") { _ in Issue.record("called") }
    task.end()
    await system.clock.settle()
    #expect(reports == [])
  }

  /// Its process ends without a pause after the last handler.
  @Test func `are called before their process ends`() async throws {
    let application = Application(delegate: Delegate(), clock: StillClock())
    await application.handle(.launch)
    var calls: [String] = []
    _ = application.beginBackgroundTask(named: "outer") { outer in
      calls.append("outer")
      _ = application.beginBackgroundTask(named: "inner") { inner in
        calls.append("inner \(application.state)")
        inner.end()
      }
      outer.end()
    }
    await application.handle(.home)
    _ = await application.finishBackgroundTasks(within: .zero, cause: "stop")
    await application.handle(.shutDown)
    #expect(calls == ["outer", "inner background"])
  }

  private final class Delegate: ApplicationDelegate {}
}
