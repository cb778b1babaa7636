import AppLifecycle
import AppLifecycleTestSupport
import AppLifecycleTesting
import SavedState
import TestTraits
import Testing

/// The rule that acknowledged state is found again, and whether it can fail.
@MainActor @Suite(.timeLimit(.hang)) struct SavedStatePromiseTests {
  private enum Mistake { case none, losesWrites, readsThePrevious }

  private func failure(with mistake: Mistake, _ script: String) async throws -> [String] {
    var devices: [ProbeDevice] = []
    let checker = try ScriptChecker { run in
      let device = ProbeDevice(order: run.order)
      switch mistake {
      case .none: break
      case .losesWrites: device.disk.loseWrites()
      case .readsThePrevious: device.application.stateStorage = PreviousStorage(device.system.stateStorage)
      }
      devices.append(device)
      run.expectSavedState(of: device.system)
      return device.system
    }
    return try await checker.complaints(about: script).map(\.message)
  }

  @Test("a write that is lost is found by the rule", arguments: ["home; suspend; reclaim", "kill"])
  func lostWrite(end: String) async throws {
    let script = "launch; do:type; \(end); launch"
    #expect(try await failure(with: .none, script) == [])
    #expect(
      try await failure(with: .losesWrites, script)
        == [#"“draft” was acknowledged as saved: "a"; the next process found """#])
  }

  @Test("older state is found by the rule") func olderState() async throws {
    let script = "launch; do:type; home; open; do:type; kill; launch"
    #expect(try await failure(with: .none, script) == [])
    #expect(
      try await failure(with: .readsThePrevious, script)
        == [#"“draft” was acknowledged as saved: "aa"; the next process found "a""#])
  }

  @Test("the checker finds the mistake with the shortest script") func shortest() async throws {
    var devices: [ProbeDevice] = []
    let checker = try ScriptChecker(alphabet: "launch home do:type crash kill") { run in
      let device = ProbeDevice(order: run.order)
      devices.append(device)
      device.disk.loseWrites()
      run.expectSavedState(of: device.system)
      return device.system
    }
    #expect(try await checker.checkAll(upTo: 4).failure?.script == "launch; do:type; kill; launch")
  }

  @Test(
    "what was not acknowledged may be lost",
    arguments: [
      "launch; do:type; crash; launch", "launch; do:type; slow:save:6s; home; launch",
      "launch; do:type; fail:save; home; suspend; reclaim; launch",
      "launch; do:type; kill; launch; do:type; home; open; crash; launch",
    ])
  func notAcknowledged(script: String) async throws { #expect(try await failure(with: .none, script) == []) }
}

/// A disk that reads the generation before.
private final class PreviousStorage: StateStorage {
  private let storage: SimulatedStateStorage

  init(_ storage: SimulatedStateStorage) { self.storage = storage }

  func open() throws(StateStorageError) -> StateOpening { try storage.open() }
  func read(_ generation: StateGeneration) throws(StateStorageError) -> [UInt8]? { try storage.read(.previous) }
  func setAside(_ generation: StateGeneration, as reason: SetAsideReason) throws(StateStorageError) -> String {
    try storage.setAside(generation, as: reason)
  }
  func replace(with bytes: [UInt8]) throws(StateStorageError) { try storage.replace(with: bytes) }
  func note(_ mark: StateMark) { storage.note(mark) }
  func close() { storage.close() }
}
