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
      let members = fleet.members
      // The rows below the first line, an empty one and the title. Others cost nothing.
      let room = max(0, terminal.size.rows - 3)
      let shown = members.count > room ? members.prefix(max(0, room - 1)) : members[...]
      let rows = shown.map { member in
        [member.id.printable, member.state.description, member.timeText ?? "-", member.cause?.printable ?? ""]
      }
      var lines = [headline, ""] + table([["TOPIC", "STATE", "SINCE", "CAUSE"]] + rows)
      if shown.count < members.count { lines.append("\(members.count - shown.count) more") }
      let text = lines.map { String($0.prefix(terminal.size.columns)) }.joined(separator: "\r\n")
      // Without automatic wrap: wide characters take more columns than were counted.
      terminal.write("\u{1B}[?7l\u{1B}[2J\u{1B}[H\(text)\u{1B}[?7h")
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
