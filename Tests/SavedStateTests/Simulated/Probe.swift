import AppLifecycle
import AppLifecycleTesting
import SavedState
import Scheduling

/// A delegate whose parts a test chooses.
@MainActor final class Probe {
  /// What the processes of a test have in common.
  @MainActor final class Plan {
    var mayRestore = true
    var maySave = true
    var keepsState = true
    var configuration = SavedState.Configuration()
    /// The number of launches so far.
    var launches = 0
    var willFinishLaunching: @MainActor (Probe, Application) -> Void = { probe, application in
      probe.draft = try? application.savedState.value("draft", default: "")
    }
  }

  var draft: SavedValue<String>?
  private(set) var outcomes: [RestorationOutcome] = []
  private let plan: Plan

  init(_ plan: Plan) { self.plan = plan }
}

extension Probe: SavedStateDelegate {
  var savedStateConfiguration: SavedState.Configuration { plan.configuration }
  func applicationWillFinishLaunching(_ application: Application) {
    plan.launches += 1
    plan.willFinishLaunching(self, application)
  }
  func applicationWillRestoreState(_ application: Application) { if plan.keepsState { _ = application.savedState } }
  func applicationShouldRestoreState(_ application: Application) -> Bool { plan.mayRestore }
  func applicationShouldSaveState(_ application: Application) -> Bool { plan.maySave }
  func application(_ application: Application, didRestoreState outcome: RestorationOutcome) { outcomes.append(outcome) }
}

/// A device with a program whose parts a test chooses, and the disk on which its writes are counted.
@MainActor final class ProbeDevice {
  let plan = Probe.Plan()
  let system: SimulatedSystem
  let disk: CountingStorage

  init(
    profile: LifecycleProfile = .application, order: SimulationExecutor.Order = .fifo, stay: Duration = .seconds(5),
    _ willFinishLaunching: (@MainActor (Probe, Application) -> Void)? = nil
  ) {
    if let willFinishLaunching { plan.willFinishLaunching = willFinishLaunching }
    var configuration = Application.Configuration()
    configuration.profile = profile
    configuration.backgroundStay = stay
    system = SimulatedSystem(configuration: configuration, order: order) { [plan] in Probe(plan) }
    disk = CountingStorage(system.stateStorage)
    application.stateStorage = disk
    system.addAction("type") { [unowned self] in probe.draft?.value += "a" }
  }

  var application: Application { system.application }
  var probe: Probe { system.application.delegate as! Probe }
  var state: SavedState { application.savedState }
  /// What the program's draft is.
  var draft: String? { probe.draft?.value }

  func play(_ script: String) async throws { try await system.play(script) }

  /// Asks for a save as the program does, and notes how it ends, once it ends.
  func save() -> Answer {
    let answer = Answer()
    let (application, state) = (application, state)
    application.task {
      do throws(SavedStateError) {
        try await state.save()
        answer.text = "saved"
      } catch { answer.text = error.description }
    }
    return answer
  }

  /// How a save has ended; nil while it has not.
  @MainActor final class Answer { var text: String? }
}

/// A disk that counts the writes, and on which a test can plant a mistake.
final class CountingStorage: StateStorage {
  private let storage: SimulatedStateStorage
  private struct State {
    var (attempts, writes) = (0, 0)
    var (loses, isFull) = (false, false)
  }

  private let state = Guarded(State())

  init(_ storage: SimulatedStateStorage) { self.storage = storage }

  /// The number of whole states that were written.
  var writes: Int { state.withLock(\.writes) }
  /// The number of writes, also of those that failed.
  var attempts: Int { state.withLock(\.attempts) }
  /// Lets writes succeed that write nothing.
  func loseWrites() { state.withLock { $0.loses = true } }
  /// Whether all writes fail.
  var isFull: Bool {
    get { state.withLock(\.isFull) }
    set { state.withLock { $0.isFull = newValue } }
  }

  func open() throws(StateStorageError) -> StateOpening { try storage.open() }
  func read(_ generation: StateGeneration) throws(StateStorageError) -> [UInt8]? { try storage.read(generation) }
  func setAside(_ generation: StateGeneration, as reason: SetAsideReason) throws(StateStorageError) -> String {
    try storage.setAside(generation, as: reason)
  }
  func replace(with bytes: [UInt8]) throws(StateStorageError) {
    let (loses, isFull) = state.withLock { state in
      state.attempts += 1
      return (state.loses, state.isFull)
    }
    if loses { return }
    if isFull { throw StateStorageError(place: "saved-state", reason: "No space left on device") }
    try storage.replace(with: bytes)
    state.withLock { $0.writes += 1 }
  }
  func note(_ mark: StateMark) { storage.note(mark) }
  func close() { storage.close() }
}
