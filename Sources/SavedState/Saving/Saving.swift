import AppLifecycle
import Scheduling

/// The saves of a state, one after another.
@MainActor final class Saving {
  typealias Completion = @MainActor (SavedStateError?) -> Void

  unowned var state: SavedState!
  private let storage: any StateStorage
  private let program: String
  private let interval: Duration
  private var application: Application? { reference.application }
  private let reference: ApplicationReference
  private let tasks: TaskStarter
  private let simulatedClock: (any SimulatedClock)?
  /// The values that differ from what was saved, in the order of their changes.
  private var changed: [any AnySavedValue] = []
  /// The values that the latest save could not encode.
  private var unencoded: [any AnySavedValue] = []
  /// The values that the running save has taken.
  private var taken: [any AnySavedValue] = []
  /// Whether the file may have something else than `contents`: state of a window that was closed since, or of a save that failed.
  private var mustWrite = false
  /// The windows that were closed while the running save was under way.
  private var endedSessions: Set<String> = []
  private var timer: StateTimer?
  /// Whether the latest timer fired early, because the clock cannot sleep: saves that fail would follow each other without
  /// end.
  private var cannotWait = false
  /// The save that runs, and the requests that wait for its end; nil if none does.
  private var running: (job: SaveJob, completions: [Completion])?
  /// The requests that wait for the save after it.
  private var waiting: [Completion] = []
  private var hasEnded = false

  init(in storage: any StateStorage, of application: Application, _ program: String, every interval: Duration) {
    (self.storage, self.program, self.interval, reference) = (storage, program, interval, application.reference)
    tasks = application.tasks
    simulatedClock = application.clock.simulated
  }

  // MARK: Requests

  /// Notes that a value differs from what was saved, and saves it after a while.
  func didChange(_ value: any AnySavedValue) {
    guard !hasEnded else { return }
    changed.append(value)
    setTimer()
  }

  /// Begins the interval for what changed before there was anything to compare it with, or for a window that was opened.
  func mayBeDue() { setTimer() }

  /// Drops the values of a window that was closed.
  ///
  /// What the file has of it is removed at once: the process may be suspended or end soon.
  func sessionDidEnd(_ session: String, endsProcess: Bool) {
    let isInFile = state.contents.drop(session)
    let mayBeInFile = isInFile || running != nil
    mustWrite = mustWrite || mayBeInFile
    if endsProcess { return isInFile ? rewrite() : () }
    if running != nil { endedSessions.insert(session) }
    if mayBeInFile { requestIfChanged() } else { setTimer() }
  }

  /// Whether there is something to save; what could not be encoded is no reason by itself.
  private var isDue: Bool { !changed.isEmpty || mustWrite || openSessions != state.contents.sessions }

  private var openSessions: [String] { application?.openSessions.map(\.identifier.rawValue) ?? [] }

  /// Begins the interval after which changes are saved, unless it runs already or there are none.
  ///
  /// - Parameter toTryAgain: whether a save has failed or was refused, so that it must not be tried again at once.
  private func setTimer(toTryAgain: Bool = false) {
    guard timer == nil, !hasEnded, state.obstacle == nil, !(toTryAgain && cannotWait) else { return }
    guard let application, application.hasPassedRestoration, isDue else { return }
    let wait = toTryAgain ? max(interval, .seconds(1)) : interval
    timer = StateTimer(after: wait, of: application) { [weak self] isEarly in
      self?.timer = nil
      self?.cannotWait = isEarly
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
    guard refusal == nil, hasWork, !isRefusedByDelegate, let job = nextJob() else { return }
    running = (job, [])
    didEnd(job)
  }

  /// Writes what was saved last, without the windows that were closed since, before this method returns.
  ///
  /// The program is not asked, and nothing that it has changed since is written: the system ends the process.
  private func rewrite() {
    guard refusal == nil else { return }
    let work = SaveJob.Work(
      program: program, storage: storage, sessions: state.contents.sessions, contents: state.contents,
      mustWrite: true, delayed: state.delayed, hasCheckedPrevious: state.hasCheckedPrevious)
    if let failure = SaveJob(work).perform().failure { state.report(failure) }
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
    // The delegate and the completions may drop the application, and the state with it.
    let kept = (state, application)
    defer { withExtendedLifetime(kept) {} }
    if let refusal { return completions.forEach { $0(refusal) } }
    if hasWork, isRefusedByDelegate {
      for completion in completions { completion(.notKept(reason: "the delegate refused it")) }
      // It may agree the next time.
      return setTimer(toTryAgain: true)
    }
    guard hasWork, let job = nextJob() else { return completions.forEach { $0(nil) } }
    running = (job, completions)
    if simulatedClock == nil {
      WorkThread.perform { [tasks, weak self] in
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
    return nil
  }

  /// Whether the delegate does not want the save; it is asked only if there is something to save.
  private var isRefusedByDelegate: Bool {
    guard let application, let delegate = application.delegate as? any SavedStateDelegate else { return false }
    return !application.callDelegate("applicationShouldSaveState") {
      delegate.applicationShouldSaveState(application)
    }
  }

  /// Whether anything differs from what is in the file, or may do so.
  private var hasWork: Bool { isDue || !unencoded.isEmpty }

  /// Takes the changed values, and returns the job that encodes and writes them; nil if nothing has changed.
  private func nextJob() -> SaveJob? {
    let sessions = openSessions
    // Its window may have been closed since a value was changed.
    let values = (changed + unencoded).filter(state.has)
    (changed, unencoded) = ([], [])
    let mustWrite = mustWrite
    guard !values.isEmpty || mustWrite || sessions != state.contents.sessions else { return nil }
    (timer, self.mustWrite) = (nil, false)
    application?.stateWitness?.didTake(state.encodedValues())
    var snapshots: [SaveJob.Snapshot] = []
    for value in values where value.change == .changed || value.change == .unencoded {
      value.change = .taken
      taken.append(value)
      snapshots.append(
        SaveJob.Snapshot(
          name: value.name, version: value.version, keepsPresent: value.hasUnreadableEntry,
          restored: value.restoredEntry, encode: value.snapshot()))
    }
    return SaveJob(
      SaveJob.Work(
        program: program, storage: storage, snapshots: snapshots, sessions: sessions, contents: state.contents,
        mustWrite: mustWrite, delayed: state.delayed, hasCheckedPrevious: state.hasCheckedPrevious))
  }

  /// Ends a save, which is performed here if it has not been; the later of two calls has no effect.
  private func didEnd(_ job: SaveJob) {
    guard !hasEnded, let completions = running?.completions, running?.job === job else { return }
    // The program's code may drop them, as in `begin`.
    let kept = (state, application)
    defer { withExtendedLifetime(kept) {} }
    let result = job.perform()
    running = nil
    settle(result)
    (state.delayed, state.hasCheckedPrevious) = (result.delayed, result.hasCheckedPrevious)
    // The reports run the program's code, which may begin another save.
    for aside in result.setAside { state.report(.setAside(path: aside.path, reason: aside.reason)) }
    let unencoded = result.unencoded.map { SavedStateError.notEncoded(key: $0.name.key, reason: $0.reason) }
    state.saveDidEnd(with: unencoded + (result.failure.map { [$0] } ?? []))
    for completion in completions { completion(result.failure ?? unencoded.first) }
    setTimer(toTryAgain: result.failure != nil)
    // The program's code, which ran for the reports and the completions, may have begun another save: its end goes on.
    guard running == nil, !waiting.isEmpty else { return }
    let next = waiting
    waiting = []
    begin(next)
  }

  /// Gives each value of a save that has ended its place among the saved and the unsaved ones.
  private func settle(_ result: SaveJob.Result) {
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
      mustWrite = true
    }
    endedSessions = []
  }
}
