import AppLifecycle
import AppLifecycleTesting

/// Plays a script on a simulated device and keeps what its user would have seen. The same script gives the same text each time:
/// tips come from memory, time from the device's clock, and with it the calendar's today.
@MainActor final class ScriptedRun {
  /// What is played if no script is given: the program is left for a day.
  static let demonstration = "launch; home; wait:1d; open"

  /// All life-cycle events, as a table.
  var record: String { system.record.table }
  /// The label after each action, as a table.
  private(set) var labels = "   TODAY  LABEL AFTER EACH ACTION\n"

  private let system: SimulatedSystem
  private let delegate: TrackerDelegate

  init(_ surroundings: TrackerDelegate.Surroundings) {
    let delegate = TrackerDelegate(surroundings)
    let system = SimulatedSystem(delegate: delegate)
    (self.delegate, self.system) = (delegate, system)
    let clock = system.clock
    delegate.surroundings.clock = clock
    delegate.surroundings.today = surroundings.today.advanced { Int(clock.now.offset.components.seconds / 86_400) }
    delegate.surroundings.tips = { MemoryTips() }
    delegate.surroundings.ticks = false
  }
}
