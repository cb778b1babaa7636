#if MQTT
  import AppLifecycle
  import EventLink
  import PubSub
  import UnixHost

  /// Draws a fleet on the terminal at each change.
  @MainActor final class FleetScreen {
    private let fleet: Fleet
    private var broker: ResourceHealth?
    private let host: String
    private var terminal: UnixHost.Terminal?

    init(_ fleet: Fleet, at host: String, _ application: Application) {
      (self.fleet, self.host) = (fleet, host)
      let bus = application.bus
      bus.subscribe(to: UnixHost.Terminal.NeedsDisplay.self, for: self) { screen, event in
        screen.terminal = event.terminal
        screen.draw()
      }
      bus.subscribe(to: Fleet.MemberDidChange.self, for: self) { screen, _ in screen.draw() }
      bus.subscribe(to: Application.ResourceDidChange.self, for: self) { screen, change in
        screen.broker = change.resource
        screen.draw()
      }
      bus.subscribe(to: UnixHost.Terminal.DidReceiveInput.self, for: self) { _, event in
        if event.keys.contains("q") { event.application.send(.terminate, cause: "q") }
      }
    }

    private func draw() {
      guard let terminal else { return }
      let (columns, rows) = (terminal.size.columns, terminal.size.rows)
      let table = FleetTable(fleet.members).lines(columns: columns)
      let shown = table.prefix(max(1, rows - 2))
      let more = table.count - shown.count
      var lines = [String(headline.prefix(columns)), ""] + shown
      if more > 0 { lines[lines.count - 1] = String("\(more + 1) more".prefix(columns)) }
      terminal.write("\u{1B}[2J\u{1B}[H" + lines.joined(separator: "\r\n"))
    }

    private var headline: String {
      let state =
        switch broker?.status {
        case .held: fleet.members.count == 1 ? "1 process" : "\(fleet.members.count) processes"
        case .retrying, .failed: "not connected: \(broker?.lastError?.printable ?? "the broker does not answer")"
        default: "connecting"
        }
      return "\(host.printable), \(state); q quits"
    }
  }
#endif
