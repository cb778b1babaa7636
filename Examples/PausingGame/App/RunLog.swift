import AppLifecycle
import ExampleSupport
import PubSub

/// Writes the records of the life cycle to standard output as JSON Lines, and between them lines about the game.
@MainActor final class RunLog {
  private var observation: ObserverToken?

  /// Writes from now on, until the log is released.
  init(_ application: Application) {
    observation = application.observe(label: "run log") { event in
      if let record = event.record { Self.write(record.jsonLine) }
    }
    let bus = application.bus
    bus.subscribe(to: GameSession.DidPauseOrGoOn.self, for: self, from: application) { _, event in
      Self.write(event.isPaused ? "game: paused" : "game: goes on")
    }
    bus.subscribe(to: Application.ResourceDidChange.self, for: self, from: application) { _, event in
      Self.write("\(event.resource.name): \(event.resource.status)")
    }
  }

  /// A failed write is ignored: if the reader is gone, the game goes on.
  private static func write(_ line: String) { _ = StandardOutput.write(line + "\n", for: "PausingGame") }
}
