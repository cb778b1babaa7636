import AppLifecycle
import AppLifecycleTesting
import PubSub
import Testing
import UnixHost
import UnixHostTesting

// The listings of Sources/UnixHost/UnixHost.docc/ATerminalProgram.md, word for word.

@MainActor final class SecondsView {
  private var terminal: Terminal?
  private var seconds = 0

  init(application: Application) {
    application.bus.subscribe(
      to: Terminal.NeedsDisplay.self, for: self
    ) { view, event in
      view.terminal = event.terminal
      view.draw()
    }
    // The application itself, captured here, would keep itself alive.
    let clock = application.clock
    application.run(self, while: .active) { view in
      while true {
        view.draw()
        try await clock.sleep(for: .seconds(1))
        view.seconds += 1
      }
    }
  }

  private func draw() { terminal?.write("\u{1B}[2J\u{1B}[H\(seconds) s") }
}

@MainActor final class SketchDelegate {}

extension SketchDelegate: TerminalApplicationDelegate {
  static var terminalConfiguration: TerminalHost.Configuration {
    var configuration = TerminalHost.Configuration()
    configuration.mouseReports = .drags
    configuration.title = "Sketch"
    // Reports when the user chooses another color scheme.
    configuration.enteringSequences = "\u{1B}[?2031h"
    configuration.leavingSequences = "\u{1B}[?2031l"
    return configuration
  }
}

@MainActor final class Sketch {
  private var points: [(row: Int, column: Int)] = []

  init(bus: EventBus) {
    bus.subscribe(to: Terminal.NeedsDisplay.self, for: self) { sketch, event in
      sketch.draw(on: event.terminal)
    }
    bus.subscribe(to: Terminal.DidReceiveInput.self, for: self) { sketch, event in
      // ESC [ < button ; column ; row M, or m when the button is released.
      let input = String(decoding: event.bytes, as: UTF8.self)
      for report in input.split(separator: "\u{1B}[<") {
        let numbers = report.dropLast().split(separator: ";").compactMap { Int($0) }
        guard report.last == "M", numbers.count == 3 else { continue }
        sketch.points.append((row: numbers[2], column: numbers[1]))
      }
      sketch.draw(on: event.terminal)
    }
  }

  private func draw(on terminal: Terminal) {
    let dots = points.map { "\u{1B}[\($0.row);\($0.column)H•" }
    terminal.write("\u{1B}[2J" + dots.joined())
  }
}

@MainActor private final class Notes {
  private(set) var reloaded: [String] = []
  private func reload(_ note: String) { reloaded.append(note) }
  private func runEditor(_ note: String) async throws -> Int32 { 0 }

  func edit(_ note: String, on terminal: Terminal, in application: Application) {
    application.task(self) { notes in
      let status = try await terminal.lend { try await notes.runEditor(note) }
      if status == 0 { notes.reload(note) }
    }
  }
}

@MainActor @Test func lendsTheTerminal() async throws {
  let system = SimulatedSystem()
  let notes = Notes()
  let terminal = RecordingTerminal(application: system.application)
  try await system.play("launch")
  notes.edit("note", on: terminal.terminal, in: system.application)
  try await system.play("wait:1s")
  #expect(notes.reloaded == ["note"])
  terminal.requestDisplay()
}

@MainActor final class ForegroundTime {
  private let clock: ApplicationClock
  private var counted = Duration.zero
  private var start: ApplicationClock.Instant?

  init(bus: EventBus, clock: ApplicationClock) {
    self.clock = clock
    bus.subscribe(
      to: Application.StateDidChange.self, for: self, replay: .latest
    ) { time, event in
      time.count(event.transition.to.isForeground)
    }
    // During a stop that the life cycle did not see, such as SIGSTOP (not Ctrl-Z),
    // the clock went on. During a sleep of the machine the clock stood still.
    bus.subscribe(to: Application.WasSuspended.self, for: self) { time, event in
      guard time.start != nil, event.agent != .systemSleep else { return }
      time.counted -= event.duration
    }
  }

  var total: Duration { counted + (start?.duration(to: clock.now) ?? .zero) }

  private func count(_ isInForeground: Bool) {
    guard isInForeground != (start != nil) else { return }
    counted = total
    start = isInForeground ? clock.now : nil
  }
}

@MainActor final class Tally {
  private var count = 0

  init(bus: EventBus) {
    bus.subscribe(to: Terminal.NeedsDisplay.self, for: self) { tally, event in
      tally.draw(on: event.terminal)
    }
    bus.subscribe(to: Terminal.DidReceiveInput.self, for: self) { tally, event in
      for key in event.keys { tally.press(key, in: event.application) }
      tally.draw(on: event.terminal)
    }
  }

  private func press(_ key: Terminal.Key, in application: Application) {
    switch key {
    case .up, "+": count += 1
    case .down, "-": count -= 1
    case .control("u"): count = 0
    case "q": application.send(.terminate, cause: "q")
    default: break
    }
  }

  private func draw(on terminal: Terminal) {
    terminal.write("\u{1B}[2J\u{1B}[HCount: \(count)")
  }
}

@MainActor @Test func countsAndQuits() async throws {
  let system = SimulatedSystem()
  let tally = Tally(bus: system.bus)
  let terminal = RecordingTerminal(application: system.application)
  try await system.play("launch")
  terminal.requestDisplay()
  terminal.press(.up, .up, "+", .down)
  #expect(terminal.lines == ["Count: 2"])
  terminal.press(.control("u"), "q")
  try await system.play("wait:1s")  // for releases that take time
  #expect(system.application.state == .notRunning)
  withExtendedLifetime(tally) {}
}

@MainActor @Test func drawsWithTheMouse() {
  let application = Application(delegate: SketchDelegate())
  let sketch = Sketch(bus: application.bus)
  let terminal = RecordingTerminal(application: application)
  terminal.requestDisplay()
  terminal.send(Array("\u{1B}[<0;3;2M\u{1B}[<32;4;2M\u{1B}[<0;5;2m".utf8))
  #expect(terminal.lines == ["", "  ••"])
  #expect(SketchDelegate.terminalConfiguration.mouseReports == .drags)
  withExtendedLifetime(sketch) {}
}

private final class LineEditor {
  var line = ""
  var asksForHelp = false

  func press(_ key: Terminal.Key) {
    switch key {
    case .backspace: _ = line.popLast()
    case .control("u"): line = ""
    case .function(1), .alt("h"): asksForHelp = true
    default: if let text = key.text { line += text }
    }
  }
}

private func warnIfCut(_ key: Terminal.Key, _ warn: (String) -> Void) {
  if case .paste(let text, let omitted) = key, omitted > 0 {
    warn("Only the first \(text.count) characters were pasted.")
  }
}

private struct RemoteKeys {
  var decoder = Terminal.KeyDecoder()

  mutating func received(_ bytes: [UInt8]) -> [Terminal.Key] {
    decoder.decode(bytes)
  }

  /// 50 ms have passed since, and nothing has come.
  mutating func paused() -> [Terminal.Key] {
    decoder.flush()
  }

  /// Some seconds have passed since.
  mutating func fellSilent() -> [Terminal.Key] {
    decoder.breakOff()
  }
}

@MainActor @Suite struct `The samples of the terminal page` {
  /// As the page's table plays Ctrl-Z, `fg` and the loss of the focus.
  @Test func `count seconds while the application is active`() async throws {
    let system = SimulatedSystem()
    let view = SecondsView(application: system.application)
    let terminal = RecordingTerminal(application: system.application)
    try await system.play("launch")
    terminal.requestDisplay()
    try await system.play("wait:3s")
    #expect(terminal.lines == ["3 s"])
    terminal.takeAway()
    try await system.play("home; suspend; wait:1m; open")
    terminal.requestDisplay()
    #expect(terminal.lines == ["3 s"])
    try await system.play("wait:1s; interrupt:focusLost; wait:1m")
    #expect(terminal.lines == ["4 s"])
    try await system.play("end:focusLost; wait:1s")
    #expect(terminal.lines == ["5 s"])
    withExtendedLifetime(view) {}
  }

  @Test func `measure the time in the foreground`() async throws {
    let system = SimulatedSystem()
    let time = ForegroundTime(bus: system.bus, clock: system.application.clock)
    try await system.play("launch; wait:1500ms; interrupt:focusLost; wait:1s; home; suspend; wait:1h; open; wait:1s")
    #expect(time.total == .milliseconds(3_500))
    for agent in [Application.WasSuspended.Agent.stopSignal, .systemSleep] {
      system.bus.post(
        Application.WasSuspended(application: system.application, duration: .seconds(1), agent: agent),
        from: system.application)
    }
    #expect(time.total == .milliseconds(2_500))
  }

  @Test func `edit a line, and take what is pasted`() {
    let editor = LineEditor()
    for key in ["a", "é", .backspace, .up, .paste("bc"), .control("x"), .function(1)] as [Terminal.Key] {
      editor.press(key)
    }
    #expect(editor.line == "abc" && editor.asksForHelp)
    editor.press(.control("u"))
    #expect(editor.line == "")
  }

  @Test func `know a paste that was cut`() {
    var decoder = Terminal.KeyDecoder()
    let text = [UInt8](repeating: 0x78, count: Terminal.KeyDecoder.pasteLimit + 1)
    let keys = decoder.decode(Array("\u{1B}[200~".utf8) + text + Array("\u{1B}[201~".utf8))
    var warnings: [String] = []
    for key in keys + [.paste("x")] { warnIfCut(key) { warnings.append($0) } }
    #expect(warnings == ["Only the first 1048576 characters were pasted."])
  }

  @Test func `decode what comes another way`() {
    var remote = RemoteKeys()
    #expect(remote.received([0x1B]) == [] && remote.paused() == [.escape])
    #expect(remote.received([0x1B]) == [] && remote.received(Array("[A".utf8)) == [.up])
    #expect(remote.received(Array("\u{1B}[200~half".utf8)) == [] && remote.fellSilent() == [.paste("half")])
  }

  @Test func `use the shared application`() {
    let system = SimulatedSystem()
    func makeScreen() -> Application { .shared }
    Application.withShared(system.application) {
      let screen = makeScreen()
      #expect(screen === system.application)
    }
  }
}
