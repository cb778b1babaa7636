package import AppLifecycle
import Scheduling

/// The disk of a simulated device, on which saved state outlives the processes of the application.
package final class SimulatedStateStorage: StateStorage {
  private struct State: Sendable {
    var generations: [StateGeneration: [UInt8]] = [:]
    /// What the present process has noted last.
    var mark: StateMark?
    var hasCrashed = false
    /// Whether the present process has taken the storage.
    var isOpen = false
    /// Whether the present process was told that the one before crashed soon after it had restored state.
    var isBlamed = false
    var failures = 0
  }

  private let state = Guarded(State())

  package init() {}

  // MARK: What a script does

  /// Lets the next save fail, as on a full disk.
  package func failNextSave() { state.withLock { $0.failures += 1 } }

  /// Whether the present process has taken the storage, and so keeps state.
  package var isOpen: Bool { state.withLock { $0.isOpen } }

  /// Notes that a process that kept state has crashed; another one cannot have died of its state.
  package func processDidCrash() { state.withLock { $0.hasCrashed = true } }

  /// The state that is there; nil if none is.
  package var present: [UInt8]? { state.withLock { $0.generations[.current] } }

  /// Whether the process before the present one crashed so that its restored state is accused.
  package var wasSetAsideAfterCrash: Bool { state.withLock { $0.isBlamed } }

  // MARK: StateStorage

  package func open() throws(StateStorageError) -> StateOpening {
    state.withLock { state in
      defer { (state.mark, state.hasCrashed, state.isOpen) = (nil, false, true) }
      state.isBlamed = state.hasCrashed && state.mark == .restored
      return StateOpening(hasCrashedAfterRestoring: state.isBlamed)
    }
  }

  package func read(_ generation: StateGeneration) throws(StateStorageError) -> [UInt8]? {
    state.withLock { $0.generations[generation] }
  }

  package func setAside(
    _ generation: StateGeneration, as reason: SetAsideReason
  ) throws(StateStorageError) -> String {
    // No process of a simulation looks at it again.
    state.withLock { $0.generations[generation] = nil }
    return "\(Self.place).\(reason.rawValue)"
  }

  package func replace(with bytes: [UInt8]) throws(StateStorageError) {
    let fails = state.withLock { state in
      guard state.failures == 0 else {
        state.failures -= 1
        return true
      }
      state.generations[.previous] = state.generations[.current]
      state.generations[.current] = bytes
      return false
    }
    if fails { throw Self.scriptedFailure }
  }

  package func note(_ mark: StateMark) { state.withLock { $0.mark = mark } }

  package func close() { state.withLock { $0.isOpen = false } }

  // MARK: Expected errors

  private static let place = "saved-state"
  private static let scriptedFailure = StateStorageError(place: place, reason: "No space left on device")

  /// Returns whether an error follows from what a script did: from `fail:save`, or from a `crash` of which the restored
  /// state is accused.
  ///
  /// The module SavedState makes errors of its own of the storage's, in which the words remain.
  package static func isScripted(_ error: any Error) -> Bool {
    let text = String(describing: error)
    return text.contains("\(place): \(scriptedFailure.reason)")
      || text.contains("\(place).\(SetAsideReason.crashed.rawValue):")
  }
}
