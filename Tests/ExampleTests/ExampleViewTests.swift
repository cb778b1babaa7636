import AppLifecycle
import AppLifecycleTesting
import PubSub
import Testing
import UnixHost
import UnixHostTesting

@testable import ConnectionManager
@testable import PregTracker
@testable import Quickstart

/// The examples' views on a recording terminal: what they show for which keys, without a device.
@MainActor @Suite struct ExampleViewTests {
  /// What a view has asked for.
  @MainActor private final class Asked<Request> { var requests: [Request] = [] }

  @Test func `Quickstart greets, greets again, and q ends it`() async throws {
    let system = SimulatedSystem { Quickstart.AppDelegate() }
    let terminal = RecordingTerminal(application: system.application)
    try await system.play("launch")
    terminal.requestDisplay()
    #expect(terminal.lines == ["Welcome. Press Ctrl-Z and come back with fg; q quits."])
    terminal.takeAway()
    try await system.play("home; wait:3s; open")
    terminal.requestDisplay()
    #expect(terminal.lines == ["Welcome back after 3 s; q quits."])
    terminal.press(.alt("q"), .paste("q"))
    await system.clock.settle()
    #expect(system.application.state == .active)
    terminal.press("q")
    await system.clock.settle()
    #expect(system.application.state == .notRunning)
  }

  @Test func `ConnectionManager's view shows the server's messages, q quits and r tries again`() {
    let system = SimulatedSystem()
    let asked = Asked<String>()
    let view = MonitorView(application: system.application, server: "127.0.0.1:6379") { command in
      asked.requests.append("\(command)")
    }
    let terminal = RecordingTerminal(application: system.application, size: Terminal.Size(rows: 5, columns: 40))
    terminal.requestDisplay()
    #expect(terminal.lines == ["127.0.0.1:6379 · notRunning · q quits, …"])
    system.bus.post(ServerMonitor.DidReceive(message: "__keyevent@0__:set one"))
    #expect(terminal.lines.last == "__keyevent@0__:set one")
    terminal.press("r", .up, .alt("r"), .paste("q"), "q")
    #expect(asked.requests == ["retry", "quit"])
    terminal.resize(to: Terminal.Size(rows: 5, columns: 10))
    #expect(terminal.lines.last == "__keyeven…")
    withExtendedLifetime(view) {}
  }

  @Test func `PregTracker's view takes a date, pasted or typed, and draws once for all keys of a piece`() {
    let system = SimulatedSystem()
    let asked = Asked<String>()
    let view = TerminalView(bus: system.bus) { command in
      asked.requests.append("\(command)")
    }
    let terminal = RecordingTerminal(application: system.application, size: Terminal.Size(rows: 24, columns: 60))
    terminal.requestDisplay()
    terminal.type("d2026-06-2")
    #expect(terminal.lines.contains("Due  2026-06-2   YYYY-MM-DD"))
    terminal.clearOutput()
    // Each alone would draw the line anew.
    terminal.type("x\u{7F}x\u{7F}x\u{7F}x\u{7F}5")
    #expect(terminal.output.split(separator: "Due  ", omittingEmptySubsequences: false).count == 2)
    terminal.press(.enter)
    terminal.press("d", .paste("2026-06-26\r\n"), .enter)
    terminal.press("t", .left, "q")
    #expect(asked.requests.map { $0.prefix { $0 != "(" } } == ["setDueDate", "setDueDate", "nextTip", "quit"])
    withExtendedLifetime(view) {}
  }
}
