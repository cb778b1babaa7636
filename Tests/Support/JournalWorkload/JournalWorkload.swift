package import AppLifecycle
import Scheduling

/// What the system does to a program that journals, at random and without an end: the same for the same seed.
package struct JournalWorkload: Sequence, IteratorProtocol {
  private var random: SplitMix64

  package init(seed: UInt64) { random = SplitMix64(seed: seed) }

  package mutating func next() -> LifecycleInput? {
    let inputs: [SystemInput] = [
      .launch, .launchInBackground, .open, .open, .open, .home, .home, .suspend, .suspend, .wake, .fetch,
      .memoryWarning, .significantTimeChange, .beginInterruption(.call), .endInterruption(.call), .lock, .unlock,
      .terminate,
    ]
    let actions: [DeviceInput] = [.openSwitcher, .leaveThroughSwitcher, .returnFromSwitcher, .reclaim]
    return (inputs.map(LifecycleInput.system) + actions.map(LifecycleInput.device)).randomElement(using: &random)
  }

  /// The cause of what the input with a number leads to.
  package static func cause(_ number: Int) -> LifecycleCause { LifecycleCause(rawValue: "n\(number)") }
}

/// A delegate that does nothing.
@MainActor package final class BareDelegate: ApplicationDelegate {
  package init() {}
}
