import AppLifecycle
import AppLifecycleTesting
import PubSub
import SavedState
import Scheduling
import TestTraits
import Testing

/// The state of windows.
@MainActor @Suite(.timeLimit(.hang)) struct WindowStateTests {
  private func pages(of system: SimulatedSystem) -> [String: String] {
    let pages = (system.application.delegate as? Notebook)?.pages ?? [:]
    return Dictionary(uniqueKeysWithValues: pages.map { ($0.key.rawValue, $0.value.value) })
  }

  private func sessions(of system: SimulatedSystem) -> [String] {
    system.application.openSessions.map(\.identifier.rawValue)
  }

  /// Another device with the disk of this one, which knows nothing else: a real program begins so.
  private func restarted(_ system: SimulatedSystem) -> SimulatedSystem {
    let other = Notebook.system()
    other.application.stateStorage = system.stateStorage
    return other
  }

  @Test("two windows do not mix, and a process that knows nothing finds both") func twoWindows() async throws {
    let system = Notebook.system()
    try await system.play("launch; scene:open:b; do:type; do:type-b; do:type-b; do:title; kill")
    let other = restarted(system)
    try await other.play("launch")
    #expect(sessions(of: other) == ["main", "b"] && pages(of: other) == ["main": "a"])
    try await other.play("scene:open:b")
    #expect(pages(of: other) == ["main": "a", "b": "bb"])
  }

  @Test("a window that was reclaimed finds its values, in this process and the next") func reclaimed() async throws {
    let system = Notebook.system()
    try await system.play("launch; scene:open:b; do:type-b; scene:background:b; scene:reclaim:b; scene:open:b")
    #expect(pages(of: system)["b"] == "b")
    try await system.play("do:type-b; scene:background:b; scene:reclaim:b; home; suspend; reclaim")
    let other = restarted(system)
    try await other.play("launch; scene:open:b")
    #expect(pages(of: other)["b"] == "bb")
  }

  @Test(
    "a window that was closed finds nothing when it is opened again",
    arguments: [
      "", "interrupt:call; end:call;", "home; open;", "slow:save:100ms; do:slow;",
      "fail:save; interrupt:call; end:call;",
    ])
  func closed(before: String) async throws {
    let system = Notebook.system()
    try await system.play("launch; scene:open:b; do:type-b; \(before) scene:close:b; wait:1s; scene:open:b")
    #expect(pages(of: system)["b"] == "")
    try await system.play("interrupt:call; crash")
    let other = restarted(system)
    try await other.play("launch; scene:open:b")
    #expect(pages(of: other)["b"] == "")
  }

  @Test(
    "a window that was closed does not come back, however soon the process ends",
    arguments: ["scene:close:b; crash", "home; scene:close:b; suspend; kill", "home; scene:close:b; suspend; reclaim"])
  func endedAfterClosing(end: String) async throws {
    let system = Notebook.system()
    try await system.play("launch; scene:open:b; do:type-b; wait:30s; \(end)")
    #expect(system.application.state == .notRunning)
    let other = restarted(system)
    try await other.play("launch")
    #expect(sessions(of: other) == ["main"])
    try await other.play("scene:open:b")
    #expect(pages(of: other)["b"] == "")
  }

  @Test(
    "a window without a scene can be closed, and its state goes with its session",
    arguments: ["scene:background:b; scene:reclaim:b", "kill; launch", "kill; launch:background"])
  func closedWithoutScene(before: String) async throws {
    let system = Notebook.system()
    try await system.play("launch; scene:open:b; do:type-b; wait:30s; \(before)")
    #expect(Set(sessions(of: system)) == ["main", "b"])
    #expect(try await !system.play("scene:close:b").contains { $0.kind == .ignored })
    #expect(sessions(of: system) == ["main"])
    #expect(try await system.play("scene:close:b").contains { $0.kind == .ignored })
    try await system.play("crash")
    let other = restarted(system)
    try await other.play("launch")
    #expect(sessions(of: other) == ["main"])
    try await other.play("scene:open:b")
    #expect(pages(of: other)["b"] == "")
  }

  @Test("a window that was closed before the first use of saved state is not restored") func closedBeforeUse()
    async throws
  {
    let system = Notebook.system()
    try await system.play("launch; scene:open:b; do:type-b; kill")
    final class Bare: ApplicationDelegate {}
    let other = SimulatedSystem(profile: .scenes) { Bare() }
    other.application.stateStorage = system.stateStorage
    try await other.play("launch; scene:open:b; scene:close:b")
    _ = other.application.savedState
    #expect(sessions(of: other) == ["main"])
    try await other.play("scene:open:b")
    #expect(sessions(of: other) == ["main", "b"])
    let window = try #require(other.application.scenes.first { $0.identifier == "b" })
    #expect(try window.savedState.value("page", default: "").value == "")
  }

  @Test("a window that is closed too late for its budget leaves nothing behind, and what was not saved stays unsaved")
  func closedTooLate() async throws {
    let system = Notebook.system()
    try await system.play("launch; scene:open:b; scene:open:c; do:type-b; do:type; wait:30s")
    try await system.play("scene:close:c; do:title; slow:sceneDidEnterBackground:6s; scene:close:b")
    #expect(system.application.state == .notRunning)
    let other = restarted(system)
    try await other.play("launch")
    #expect(sessions(of: other) == ["main"] && pages(of: other) == ["main": "a"])
    #expect((other.application.delegate as? Notebook)?.title?.value == "")
    try await other.play("scene:open:b")
    #expect(pages(of: other)["b"] == "")
  }

  @Test("a window that is closed too late writes no state where its values were not saved")
  func unsavedAndClosedTooLate() async throws {
    let system = Notebook.system()
    try await system.play("launch; scene:open:b; do:type-b; slow:sceneDidEnterBackground:6s; scene:close:b")
    #expect(system.application.state == .notRunning)
    #expect(system.stateStorage.present == nil)
  }

  @Test("a window that is closed too late, and whose values cannot be removed, is reported") func keptByFullDisk()
    async throws
  {
    let errors = Guarded<[SavedStateError]>([])
    let system = Notebook.system()
    let subscription = system.bus.subscribe(to: EventBus.HandlerFailure.self) { failure in
      if let error = failure.error as? SavedStateError { errors.withLock { $0.append(error) } }
    }
    try await system.play("launch; scene:open:b; do:type-b; wait:30s")
    try await system.play("fail:save; slow:sceneDidEnterBackground:6s; scene:close:b")
    #expect(errors.withLock(\.self) == [.notWritten(path: "saved-state", reason: "No space left on device")])
    subscription.cancel()
  }

  @Test("a window that is closed during a save leaves nothing behind") func closedDuringSave() async throws {
    let system = Notebook.system()
    try await system.play("launch; scene:open:b; do:type-b; slow:save:2s; do:save; wait:1s; scene:close:b; wait:5s")
    try await system.play("scene:open:b; wait:30s; crash")
    let other = restarted(system)
    try await other.play("launch; scene:open:b")
    #expect(pages(of: other)["b"] == "")
  }

  @Test("a save that begins as a window is closed leaves nothing behind, either") func savedAsItCloses() async throws {
    let system = Notebook.system()
    system.addAction("twice") { [unowned system] in
      let (application, notebook) = (system.application, system.application.delegate as? Notebook)
      application.task {
        try await application.savedState.save()
        notebook?.type("c", into: "b")
        try await application.savedState.save()
      }
    }
    try await system.play("launch; scene:open:b; do:type-b; slow:save:2s; do:twice; scene:close:b; scene:open:b")
    #expect(pages(of: system)["b"] == "")
    try await system.play("wait:30s; crash")
    let other = restarted(system)
    try await other.play("launch; scene:open:b")
    #expect(pages(of: other)["b"] == "")
  }

  @Test("what a closed window's values become is not saved") func oldValue() async throws {
    let system = Notebook.system()
    try await system.play("launch; scene:open:b; do:type-b")
    let old = (system.application.delegate as? Notebook)?.pages["b"]
    try await system.play("scene:close:b; scene:open:b; do:type-b; do:type-b")
    old?.value = "old"
    try await system.play("home")
    #expect(pages(of: system)["b"] == "bb")
    try await system.play("kill")
    let other = restarted(system)
    try await other.play("launch; scene:open:b")
    #expect(pages(of: other)["b"] == "bb")
  }

  @Test("a value that is made for a closed window has the default, and is not saved") func madeTooLate() async throws {
    let system = Notebook.system()
    try await system.play("launch; scene:open:b; do:type-b")
    let scene = try #require(system.application.scenes.first { $0.identifier == "b" })
    try await system.play("wait:30s; scene:close:b")
    let late = try scene.savedState.value("page", default: "")
    #expect(late.value == "")
    late.value = "late"
    try await system.play("do:save; wait:1s; crash")
    let other = restarted(system)
    try await other.play("launch; scene:open:b")
    #expect(pages(of: other)["b"] == "")
    // Nor does a new window of that name in the same process find it.
    let closed = try #require(other.application.scenes.first { $0.identifier == "b" })
    try await other.play("scene:close:b")
    try closed.savedState.value("page", default: "").value = "late"
    try await other.play("scene:open:b; do:type-b; wait:30s; crash")
    let last = restarted(system)
    try await last.play("launch; scene:open:b")
    #expect(pages(of: last)["b"] == "b")
  }

  @Test("a window that opens and closes between two saves causes no write") func passing() async throws {
    let device = ProbeDevice(profile: .scenes)
    try await device.play("launch; wait:30s")
    #expect(device.disk.writes == 1)
    // In the background: a break of the application would save the window.
    try await device.play("scene:connect:b; scene:close:b; wait:30s; kill")
    #expect(device.disk.writes == 1)
  }

  @Test("windows that open or close are saved after a while, though no value changes") func sessionsAreSaved()
    async throws
  {
    let system = Notebook.system()
    try await system.play("launch; scene:open:b; wait:30s; crash")
    let second = restarted(system)
    try await second.play("launch; wait:5s")
    #expect(sessions(of: second) == ["main", "b"])
    try await second.play("scene:open:b; scene:close:b; wait:30s; crash")
    let third = restarted(system)
    try await third.play("launch")
    #expect(sessions(of: third) == ["main"])
  }
}
