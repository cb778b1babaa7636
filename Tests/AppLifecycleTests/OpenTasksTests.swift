import AppLifecycle
import AppLifecycleTesting
import TestTraits
import Testing

/// What an application says about tasks that have not ended.
@Suite(.timeLimit(.hang)) @MainActor struct OpenTasksTests {
  @Test func `Tasks are open until they have ended, in the order in which they began`() async throws {
    let system = SimulatedSystem()
    let application = system.application
    #expect(application.openTasks == [])
    for seconds in [3, 1, 2] {
      application.task(label: "\(seconds) s") { try await application.clock.sleep(for: .seconds(seconds)) }
    }
    #expect(application.openTasks == ["3 s", "1 s", "2 s"])
    try await system.play("wait:1500ms")
    #expect(application.openTasks == ["3 s", "2 s"])
    application.task {}
    #expect(application.openTasks.last == "AppLifecycleTests/OpenTasksTests.swift:\(#line - 1)")
    try await system.play("wait:2s")
    #expect(application.openTasks == [])
  }

  @Test func `A task that ignores its cancellation stays open when its process has ended, and is in the ledger once`()
    async throws
  {
    let system = SimulatedSystem()
    let application = system.application
    var waiter: UnsafeContinuation<Void, Never>?
    try await system.play("launch")
    application.task(label: "stubborn") { await withUnsafeContinuation { waiter = $0 } }
    application.task(label: "polite") { try await application.clock.sleep(for: .seconds(3)) }
    try await system.play("kill")
    #expect(application.openTasks == ["stubborn"])
    try await system.play("launch")
    application.task(label: "next") {}
    #expect(application.openTasks == ["stubborn", "next"])
    waiter?.resume()
    await system.clock.settle()
    #expect(application.openTasks == [])
    let outcomes = application.ledger.entries.filter { $0.name == "stubborn" }.map(\.outcome)
    #expect(outcomes == [.cutShort])
  }

  @Test func `Background tasks are open from their begin to their end, or to that of the process`() async throws {
    let system = SimulatedSystem()
    let application = system.application
    try await system.play("launch")
    let first = application.beginBackgroundTask(named: "first")
    application.performBackgroundTask(named: "second") { try? await application.clock.sleep(for: .seconds(1)) }
    let third = application.beginBackgroundTask(named: "third")
    #expect(application.openBackgroundTasks == ["first", "second", "third"])
    first.end()
    try await system.play("wait:2s")
    #expect(application.openBackgroundTasks == ["third"])
    try await system.play("crash")
    #expect(application.openBackgroundTasks == [])
    third.end()
  }
}
