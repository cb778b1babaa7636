import AppLifecycleTesting

/// Lines that a test notes, each with the seconds that the simulated clock shows.
@MainActor final class TimedNotes {
  var lines: [String] = []
  private let clock: ManualClock

  init(_ clock: ManualClock) { self.clock = clock }

  func write(_ text: String) { lines.append("\(text) \(Double(clock.now.offset / .milliseconds(1)) / 1000)") }

  /// Removes and returns the lines.
  func take() -> [String] {
    defer { lines = [] }
    return lines
  }
}
