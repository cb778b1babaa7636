import AppLifecycle
import PubSub
import UnixHost

/// A list of things to do, in a terminal: type one, Enter adds it, Ctrl-U clears the line, Escape quits.
@MainActor public final class TodoView {
  private var items: [String] = []
  private var line = ""

  /// A view that draws itself whenever the terminal wants it to.
  public init(bus: EventBus) {
    bus.subscribe(to: Terminal.NeedsDisplay.self, for: self) { $0.draw(on: $1.terminal) }
    bus.subscribe(to: Terminal.DidReceiveInput.self, for: self) { view, event in
      for key in event.keys { view.press(key, event.application) }
      view.draw(on: event.terminal)
    }
  }

  private func press(_ key: Terminal.Key, _ application: Application) {
    switch key {
    case .enter:
      items.append(line)
      line = ""
    case .backspace: _ = line.popLast()
    case .control("u"): line = ""
    case .escape: application.send(.terminate, cause: "Escape")
    default: if let text = key.text { line += text }
    }
  }

  private func draw(on terminal: Terminal) {
    terminal.write(
      "\u{1B}[2J\u{1B}[H" + (items.map { "[ ] \($0)" } + ["> \(line)"]).joined(separator: "\r\n"))
  }
}
