// The smallest program with a life cycle: `swift run Quickstart`, then Ctrl-Z, `fg`, and `q` to quit.

import AppLifecycle
import PubSub
import UnixHost

@main @MainActor final class AppDelegate {
  private var greeting: Greeting?
}

// Conform in an extension: there the compiler warns of a misspelt callback.
extension AppDelegate: MainApplicationDelegate {
  func applicationDidFinishLaunching(_ application: Application) {
    greeting = Greeting(bus: application.bus)
  }
}

/// A view that subscribes to the events that it needs; the delegate only makes it and keeps it.
@MainActor final class Greeting {
  private var text = "Welcome. Press Ctrl-Z and come back with fg; q quits."

  init(bus: EventBus) {
    bus.subscribe(to: Application.WillEnterForeground.self, for: self) { greeting, event in
      let away = event.transition.excursion?.length ?? .zero
      greeting.text = "Welcome back after \(away.components.seconds) s; q quits."
    }
    bus.subscribe(to: Terminal.NeedsDisplay.self, for: self) { greeting, event in
      event.terminal.write("\u{1B}[2J\u{1B}[H" + greeting.text)
    }
    bus.subscribe(to: Terminal.DidReceiveInput.self, for: self) { _, event in
      if event.keys.contains("q") { event.application.send(.terminate, cause: "q") }
    }
  }
}
