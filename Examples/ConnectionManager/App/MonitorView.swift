import AppLifecycle
import ExampleSupport
import PubSub
import UnixHost

/// Draws the status of the resources and the server's messages, and handles the keys.
@MainActor final class MonitorView {
  /// An action that a key asks for.
  enum Command { case quit, retry }

  private var contents: MonitorContents { didSet { draw() } }
  private var update = ScreenUpdate()
  /// The terminal to draw on; nil until the program has it for the first time.
  private var screen: Terminal.NeedsDisplay?

  /// A view of an application's resources.
  ///
  /// - Parameters:
  ///   - application: the application whose resources are shown.
  ///   - server: the server's name.
  ///   - perform: carries out the action that a key asks for.
  init(application: Application, server: String, perform: @escaping @MainActor (Command) -> Void) {
    let bus = application.bus
    contents = MonitorContents(server: server)
    bus.subscribe(to: Application.ResourceDidChange.self, for: self, from: application) { view, event in
      view.contents.note(event.resource, among: event.application.resources)
    }
    bus.subscribe(to: Application.StateDidChange.self, for: self, from: application) { view, event in
      view.contents.state = event.application.state
    }
    bus.subscribe(to: ServerMonitor.DidReceive.self, for: self) { view, event in view.contents.add(event.message) }
    bus.subscribe(to: Terminal.NeedsDisplay.self, for: self) { view, screen in
      view.screen = screen
      view.update.invalidate()
      view.draw()
    }
    bus.subscribe(to: Terminal.DidReceiveInput.self, for: self) { _, input in
      for key in input.keys {
        switch key {
        case "q": perform(.quit)
        case "r": perform(.retry)
        default: break
        }
      }
    }
  }

  private func draw() {
    guard let screen else { return }
    let lines = contents.lines(rows: screen.size.rows, columns: screen.size.columns)
    let text = update.show(lines, columns: screen.size.columns)
    // Text written while the program does not have the terminal is dropped. NeedsDisplay is posted when the program has it again.
    if !text.isEmpty { screen.terminal.write(text) }
  }
}
