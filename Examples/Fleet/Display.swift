import AppLifecycle
import EventLink
import ExampleSupport
import PubSub
import UnixHost

/// Shows the processes of the checkout, and the latest orders; Ctrl-Z releases its link, and `fg` connects it again.
@MainActor final class Display {
  private let fleet = Fleet()
  private let link: EventLink
  private var terminal: Terminal?
  private var done = 0
  private var latest: [OrderDone] = []

  init(_ application: Application, _ transport: any LinkTransport) throws {
    let fleet = fleet
    link = try EventLink(of: application, to: transport) { link in
      try link.receive(OrderDone.self, as: Topic.done)
      try link.announceLifeCycle(as: Topic.fleet("display"))
      try link.follow(fleet, on: Topic.fleet)
    }
    _ = try link.manage(in: application, while: .foreground)
    let bus = application.bus
    bus.receive(OrderDone.self, for: self) { display, order in
      display.done += 1
      display.latest = display.latest.suffix(4) + [order]
      display.draw()
    }
    bus.subscribe(to: Fleet.MemberDidChange.self, for: self) { display, _ in display.draw() }
    bus.subscribe(to: Terminal.NeedsDisplay.self, for: self) { display, event in
      display.terminal = event.terminal
      display.draw()
    }
    bus.subscribe(to: Terminal.DidReceiveInput.self, for: self) { _, event in
      if event.keys.contains("q") { event.application.send(.terminate, cause: "q") }
    }
  }

  private func draw() {
    let members = fleet.members.map { "\($0.id)  \($0.state)" }
    let orders = latest.map { "order \($0.id) by \($0.worker)" }
    let lines = ["Checkout: \(done) orders done; q quits", ""] + members + [""] + orders
    guard let terminal else { return }
    // Names come from other programs.
    let shown = lines.prefix(terminal.size.rows).map { String($0.escaped.prefix(terminal.size.columns)) }
    terminal.write("\u{1B}[2J\u{1B}[H" + shown.joined(separator: "\n"))
  }
}
