import AppLifecycle
import ExampleSupport
import PubSub
import UnixHost

/// Shows the end of the table on the terminal's screen, and handles the keys.
@MainActor final class RecorderView {
  private var record: EventRecorder.DidRecord?
  private var update = ScreenUpdate()
  /// The terminal to draw on; nil until the program has it for the first time.
  private var screen: Terminal.NeedsDisplay?

  init(bus: EventBus) {
    bus.subscribe(to: EventRecorder.DidRecord.self, for: self) { view, record in
      view.record = record
      view.draw()
    }
    bus.subscribe(to: Terminal.NeedsDisplay.self, for: self) { view, screen in
      view.screen = screen
      view.update.invalidate()
      view.draw()
    }
    bus.subscribe(to: Terminal.DidReceiveInput.self, for: self) { _, event in
      if event.keys.contains("q") { event.application.send(.terminate, cause: "q") }
    }
  }

  private func draw() {
    guard let screen, let record else { return }
    let footer = record.problem ?? "Ctrl-Z and fg, another window and back, kill -9 and a new launch; q quits"
    let room = max(0, screen.size.rows - 2)
    let table = EventTable(record.events).lines.suffix(room)
    let blank = Array(repeating: StyledLine(), count: room - table.count + 1)
    let lines = table.map { StyledLine($0) } + blank + [StyledLine(footer, .dim)]
    let text = update.show(
      lines.suffix(screen.size.rows).map { $0.cut(to: screen.size.columns) }, columns: screen.size.columns)
    if !text.isEmpty { screen.terminal.write(text) }
  }
}
