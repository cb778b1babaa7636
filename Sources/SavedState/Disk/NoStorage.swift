import AppLifecycle
import Scheduling

/// The storage of a program whose environment names no directory for state: every call fails.
final class NoStorage: StateStorage {
  private let failure: StateStorageError = {
    #if canImport(Darwin)
      let reason = "HOME names none"
    #else
      let reason = "none of STATE_DIRECTORY, XDG_STATE_HOME and HOME names one"
    #endif
    let privileges = "; a program with set-user-ID or file capabilities ignores them"
    return StateStorageError(
      place: "the directory for state", reason: reason + (Environment.isWithheld("HOME") ? privileges : ""))
  }()

  func open() throws(StateStorageError) -> StateOpening { throw failure }
  func read(_ generation: StateGeneration) throws(StateStorageError) -> [UInt8]? { nil }
  func setAside(_ generation: StateGeneration, as reason: SetAsideReason) throws(StateStorageError) -> String {
    throw failure
  }
  func replace(with bytes: [UInt8]) throws(StateStorageError) { throw failure }
  func note(_ mark: StateMark) {}
  func close() {}
}
