import AppLifecycle

/// The storage of a program whose environment names no directory for state: every call fails.
final class NoStorage: StateStorage {
  private let failure = StateStorageError(
    place: "the directory for state", reason: "neither XDG_STATE_HOME nor HOME names one")

  func open() throws(StateStorageError) -> StateOpening { throw failure }
  func read(_ generation: StateGeneration) throws(StateStorageError) -> [UInt8]? { nil }
  func setAside(_ generation: StateGeneration, as reason: SetAsideReason) throws(StateStorageError) -> String {
    throw failure
  }
  func replace(with bytes: [UInt8]) throws(StateStorageError) { throw failure }
  func note(_ mark: StateMark) {}
  func close() {}
}
