#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif
import AppLifecycle
import Scheduling

/// The saves of a state, one after another.
@MainActor final class Saving {
  typealias Completion = @MainActor (SavedStateError?) -> Void

  /// A value as it was when its save began.
  private struct Snapshot: Sendable {
    let name: StateDocument.Name
    let version: Int
    let keepsPresent: Bool
    let encode: @Sendable () throws -> Data
  }

  unowned var state: SavedState!
  private let storage: any StateStorage
  private let program: String
  private let interval: Duration
  private weak var application: Application?
  private let tasks: TaskStarter
  private let simulatedClock: (any SimulatedClock)?
  /// The thread that encodes and writes; nil in a simulation, where the executor decides.
  private let thread: WorkThread?
  /// The values that differ from what was saved, in the order of their changes.
  private var changed: [any AnySavedValue] = []
  /// The values that the latest save could not encode.
  private var unencoded: [any AnySavedValue] = []
  /// The values that the running save has taken.
  private var taken: [any AnySavedValue] = []
  /// Whether the file has, as far as is known, state of a window that was closed since.
  private var hasDropped = false
  /// The windows that were closed while the running save was under way.
  private var endedSessions: Set<String> = []
  private var timer: StateTimer?
  /// The save that runs, and those who wait for it; nil if none does.
  private var running: (job: SaveJob, completions: [Completion])?
  /// Those who wait for the save after it.
  private var waiting: [Completion] = []
  private var hasEnded = false

  init(in storage: any StateStorage, of application: Application, _ program: String, every interval: Duration) {
    (self.storage, self.program, self.interval, self.application) = (storage, program, interval, application)
    tasks = application.tasks
    simulatedClock = application.clock.simulated
    thread = simulatedClock == nil ? WorkThread() : nil
  }

  // MARK: Requests

  /// Notes that a value differs from what was saved, and saves it after a while.
  func didChange(_ value: any AnySavedValue) {
    guard !hasEnded else { return }
    changed.append(value)
    setTimer()
  }

  /// Begins the interval for what changed before there was anything to compare it with.
  func restorationDidEnd() { setTimer() }

  /// Notes that a window was opened.
  func sessionsDidChange() { setTimer() }

  /// Drops the values of a window that was closed.
  func sessionDidEnd(_ session: String) {
    state.contents.drop(session)
    hasDropped = true
    if running != nil { endedSessions.insert(session) }
    setTimer()
  }

  /// Whether there is something to save; what could not be encoded is no reason by itself.
  private var isDue: Bool { !changed.isEmpty || hasDropped || openSessions != state.contents.sessions }

  private var openSessions: [String] { application?.openSessions.map(\.identifier.rawValue) ?? [] }

  /// Begins the interval after which changes are saved, unless it runs already or there are none.
  private func setTimer() {
    guard timer == nil, !hasEnded, state.obstacle == nil, let application, application.hasPassedRestoration, isDue
    else { return }
    timer = StateTimer(after: interval, of: application) { [weak self] in
      self?.timer = nil
      self?.requestIfChanged()
    }
  }

  func requestIfChanged() { if !hasEnded, isDue { request { _ in } } }

  /// Saves what has changed, and calls the completion once, with the reason if it is not saved.
  func request(_ completion: @escaping Completion) {
    var completion = completion
    if !hasEnded, let witness = application?.stateWitness {
      let request = witness.didAsk(toSave: state.encodedValues())
      completion = { [completion] failure in
        if failure == nil { witness.didPromise(request) }
        completion(failure)
      }
    }
    if running != nil { return waiting.append(completion) }
    begin([completion])
  }

  /// Saves what has changed before this method returns, also what a running save has taken already.
  func performAtOnce() {
    while let running { didEnd(running.job) }
    guard refusal == nil, let job = nextJob() else { return }
    running = (job, [])
    didEnd(job)
  }

  func processDidEnd() {
    hasEnded = true
    timer = nil
    let lost = (running?.completions ?? []) + waiting
    (running, waiting) = (nil, [])
    (changed, unencoded, taken) = ([], [], [])
    for completion in lost { completion(.notKept(reason: "the process has ended")) }
  }

  // MARK: One save

  private func begin(_ completions: [Completion]) {
    if let refusal = refusal {
      for completion in completions { completion(refusal) }
      // The delegate may agree the next time.
      return setTimer()
    }
    guard let job = nextJob() else { return completions.forEach { $0(nil) } }
    running = (job, completions)
    if let thread {
      thread.perform { [tasks, weak self] in
        job.perform()
        tasks.startOnMainActor { [weak self] in self?.didEnd(job) }
      }
    } else {
      tasks.startOnMainActor { [weak self, simulatedClock, clock = application?.clock] in
        if let length = simulatedClock?.takeLength(of: "save") { try? await clock?.sleep(for: length) }
        self?.didEnd(job)
      }
    }
  }

  /// The reason for which nothing is saved; nil if there is none.
  private var refusal: SavedStateError? {
    if hasEnded { return .notKept(reason: "the process has ended") }
    if let obstacle = state.obstacle { return obstacle }
    guard let application, application.hasPassedRestoration else {
      return .notKept(reason: "the application has not been launched")
    }
    if let delegate = application.delegate as? any SavedStateDelegate,
      !delegate.applicationShouldSaveState(application)
    {
      return .notKept(reason: "the delegate refused it")
    }
    return nil
  }

  /// Takes the changed values, and returns the job that encodes and writes them; nil if nothing has changed.
  private func nextJob() -> SaveJob? {
    let sessions = openSessions
    // Its window may have been closed since a value was changed.
    let values = (changed + unencoded).filter(state.has)
    (changed, unencoded) = ([], [])
    let hasDropped = hasDropped
    guard !values.isEmpty || hasDropped || sessions != state.contents.sessions else { return nil }
    (timer, self.hasDropped) = (nil, false)
    application?.stateWitness?.didTake(state.encodedValues())
    var snapshots: [Snapshot] = []
    for value in values where value.change == .changed || value.change == .unencoded {
      value.change = .taken
      taken.append(value)
      snapshots.append(
        Snapshot(
          name: value.name, version: value.version, keepsPresent: value.hasUnreadableEntry, encode: value.snapshot()))
    }
    if state.isUnread {
      state.setAside(.current, as: .unread, because: "it could not be read as the process began")
      state.isUnread = false
    }
    return SaveJob { [snapshots, contents = state.contents, storage, program] in
      Self.save(snapshots, sessions, over: contents, hasDropped, of: program, in: storage)
    }
  }

  private nonisolated static func save(
    _ snapshots: [Snapshot], _ sessions: [String], over contents: SavedContents, _ hasDropped: Bool, of program: String,
    in storage: any StateStorage
  ) -> SaveResult {
    var result = SaveResult(contents: contents)
    var isChanged = result.contents.keep(sessions: sessions) || hasDropped
    for snapshot in snapshots {
      do {
        let entry = StateDocument.Entry(name: snapshot.name, version: snapshot.version, json: try snapshot.encode())
        if result.contents.update(entry, keepsPresent: snapshot.keepsPresent) { isChanged = true }
      } catch {
        result.unencoded.append((snapshot.name, String(describing: error)))
      }
    }
    guard isChanged else { return result }
    do {
      try storage.replace(with: try result.contents.document(of: program).encoded())
    } catch let error as StateStorageError {
      result.failure = .notWritten(path: error.place, reason: error.reason)
    } catch {
      result.failure = .notWritten(path: "saved-state", reason: String(describing: error))
    }
    return result
  }

  /// Ends a save, which is performed here if it has not been; the later of two calls has no effect.
  private func didEnd(_ job: SaveJob) {
    guard !hasEnded, let completions = running?.completions, running?.job === job else { return }
    let result = job.perform()
    running = nil
    settle(result)
    var failure = result.failure
    for (name, reason) in result.unencoded {
      let error = SavedStateError.notEncoded(key: name.key, reason: reason)
      state.report(error)
      failure = failure ?? error
    }
    if let reason = result.failure { state.report(reason) } else if failure == nil { state.saveDidSucceed() }
    for completion in completions { completion(failure) }
    setTimer()
    guard !waiting.isEmpty else { return }
    let next = waiting
    waiting = []
    begin(next)
  }

  /// Gives each value of a save that has ended its place among the saved and the unsaved ones.
  private func settle(_ result: SaveResult) {
    let unencodedNames = Set(result.unencoded.map(\.name))
    for value in taken {
      let isWritten = result.failure == nil && !unencodedNames.contains(value.name)
      // Not when it has been changed since: what was written first has already kept what could not be read.
      if isWritten { value.hasUnreadableEntry = false }
      guard value.change == .taken else { continue }
      if isWritten {
        value.change = .none
      } else if result.failure == nil {
        value.change = .unencoded
        unencoded.append(value)
      } else {
        value.change = .changed
        changed.append(value)
      }
    }
    taken = []
    if result.failure == nil {
      state.contents = result.contents
      for session in endedSessions { state.contents.drop(session) }
    } else {
      // The file may have more than is known; to write once too often does no harm.
      hasDropped = true
    }
    endedSessions = []
  }
}
