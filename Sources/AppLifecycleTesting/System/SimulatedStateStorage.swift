package import AppLifecycle
import Scheduling

/// The disk of a simulated device, on which saved state outlives the processes of the application.
package final class SimulatedStateStorage: StateStorage {
  private struct State: Sendable {
    var generations: [StateGeneration: [UInt8]] = [:]
    var setAside: [String: [UInt8]] = [:]
    var marks: [StateMark] = []
    var hasCrashed = false
    var failures = 0
  }

  private let state = Guarded(State())

  package init() {}

  // MARK: What a script does

  /// Lets the next save fail, as on a full disk.
  package func failNextSave() { state.withLock { $0.failures += 1 } }

  /// Notes that the process has crashed.
  package func processDidCrash() { state.withLock { $0.hasCrashed = true } }

  /// The state that is there; nil if none is.
  package var present: [UInt8]? { state.withLock { $0.generations[.current] } }

  // MARK: StateStorage

  package func open() throws(StateStorageError) -> StateOpening {
    state.withLock { state in
      defer { (state.marks, state.hasCrashed) = ([], false) }
      let isBlamed = state.hasCrashed && state.marks.contains(.restored) && !state.marks.contains(.settled)
      return StateOpening(place: "saved-state", hasCrashedAfterRestoring: isBlamed)
    }
  }

  package func read(_ generation: StateGeneration) throws(StateStorageError) -> [UInt8]? {
    state.withLock { $0.generations[generation] }
  }

  package func setAside(
    _ generation: StateGeneration, as reason: SetAsideReason
  ) throws(StateStorageError) -> String {
    state.withLock { state in
      let name = "saved-state.\(reason.rawValue)"
      state.setAside[name] = state.generations.removeValue(forKey: generation)
      return name
    }
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
    if fails { throw StateStorageError(place: "saved-state", reason: "No space left on device") }
  }

  package func note(_ mark: StateMark) { state.withLock { $0.marks.append(mark) } }

  package func close() {}
}
