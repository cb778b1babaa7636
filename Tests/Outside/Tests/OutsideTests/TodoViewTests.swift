import AppLifecycle
import AppLifecycleTestSupport
import AppLifecycleTesting
import OutsideKit
import PubSub
import Testing
import UnixHost
import UnixHostTesting

@MainActor @Suite struct TodoViewTests {
  @Test(.simulatedSystem) func itTakesWhatIsTyped() async throws {
    let system = try SimulatedSystem.current
    let view = TodoView(bus: system.bus)
    let terminal = RecordingTerminal(application: system.application)
    try await system.play("launch")
    terminal.requestDisplay()
    terminal.type("bake")
    terminal.press(.enter, "x", .control("u"), "é", .backspace, "b")
    #expect(terminal.lines == ["[ ] bake", "> b"])
    terminal.press(.escape)
    await system.clock.settle()
    #expect(system.application.state == .notRunning)
    withExtendedLifetime(view) {}
  }
}
