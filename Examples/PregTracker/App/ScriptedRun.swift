import AppLifecycle
import AppLifecycleTesting
import PubSub

/// Plays a script on a simulated device, and keeps what the device's user would have seen.
///
/// The same script gives the same text each time: tips come from memory, time from the device's clock, and with it the calendar's
/// today.
@MainActor final class ScriptedRun {
  /// The default script: the user leaves the program for a day.
  nonisolated static let demonstration = "launch; home; wait:1d; open"

  /// The screen after one action of the script.
  struct Sight: Hashable {
    let action: String
    let today: String
    let connection: String
    let label: String
    /// Whether the label differs from the one that today should have.
    let isStale: Bool
  }

  /// What happened to the application.
  var record: [LifecycleRecord] { system.record }
  private(set) var sights: [Sight] = []

  private let system: SimulatedSystem
  private let today: Today
  private var connection = ""

  private var delegate: TrackerDelegate? { system.application.delegate as? TrackerDelegate }

  init(_ surroundings: TrackerDelegate.Surroundings) {
    var simulated = surroundings
    system = SimulatedSystem { TrackerDelegate(simulated) }
    let clock = system.clock
    simulated.clock = clock
    simulated.today = surroundings.today.advanced { Int(clock.now.offset.components.seconds / 86_400) }
    simulated.tips = { MemoryTips() }
    simulated.ticks = false
    today = simulated.today
    // The delegate of the first process was made before its clock.
    delegate?.surroundings = simulated
    system.bus.subscribe(to: ConnectionManager.DidChange.self, for: self) { $0.connection = $1.status }
  }

  /// Plays a script; a script with a mistake is not played at all.
  func play(_ script: String) async throws {
    for action in try Script(script).actions {
      try await system.play(action.token)
      sights.append(sight(after: action.token))
    }
  }

  private func sight(after action: String) -> Sight {
    let day = (try? today.read()).map { "\($0)" } ?? "?"
    guard system.application.state.isInMemory, let delegate, let label = delegate.viewModel?.label else {
      return Sight(action: action, today: day, connection: "–", label: "–", isStale: false)
    }
    let fresh = PregnancyViewModel.label(of: delegate.dueDate?.date, on: today).text
    let isForeground = system.application.state.isForeground
    let isStale = isForeground && label != fresh
    return Sight(action: action, today: day, connection: connection, label: label, isStale: isStale)
  }

  /// The record and the labels, for people.
  var text: String {
    let header = ["ACTION", "TODAY", "TIPS", "LABEL"]
    let rows =
      [header] + sights.map { [$0.action, $0.today, $0.connection, $0.label + ($0.isStale ? "  ← stale" : "")] }
    let widths = (0..<3).map { column in rows.map(\.[column].count).max() ?? 0 }
    let table = rows.map { row in
      zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count + 2) }.joined() + row[3] + "\n"
    }
    return record.table + "\n" + table.joined()
  }
}
