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

  /// What became of a save.
  private struct Result: Sendable {
    var contents: SavedContents
    var unencoded: [(key: String, reason: String)] = []
    var failure: SavedStateError?
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
  private var timer: StateTimer?
  /// Those who wait for the save that runs; nil if none does.
  private var running: [Completion]?
  /// Those who wait for the save after it.
  private var waiting: [Completion] = []
  /// The windows that were closed during the running save.
  private var closedMeanwhile: [String] = []
  /// Whether values of a closed window are still in the file.
  private var hasDropped = false
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
    guard timer == nil, let application, application.hasPassedRestoration else { return }
    timer = StateTimer(after: interval, of: application) { [weak self] in
      self?.timer = nil
      self?.requestIfChanged()
    }
  }

  func requestIfChanged() { if !changed.isEmpty { request { _ in } } }

  /// Drops the values of a window that was closed.
  func drop(_ session: String) {
    changed.removeAll { $0.name.session == session }
    if running != nil { closedMeanwhile.append(session) }
    if state.contents.drop(session) { hasDropped = true }
  }

  /// Saves what has changed, and calls the completion once, with the reason if it is not saved.
  func request(_ completion: @escaping Completion) {
    if running != nil { return waiting.append(completion) }
    begin([completion])
  }

  /// Saves what has changed before this method returns, unless a save runs already.
  func performAtOnce() {
    guard running == nil, let job = nextJob() else { return }
    running = []
    didEnd(job())
  }

  func processDidEnd() {
    hasEnded = true
    timer = nil
    let lost = (running ?? []) + waiting
    (running, waiting, changed) = (nil, [], [])
    for completion in lost { completion(.notKept(reason: "the process has ended")) }
  }

  // MARK: One save

  private func begin(_ completions: [Completion]) {
    if let refusal = refusal { return completions.forEach { $0(refusal) } }
    guard let job = nextJob() else { return completions.forEach { $0(nil) } }
    running = completions
    if let thread {
      thread.perform { [tasks, weak self] in
        let result = job()
        tasks.startOnMainActor { [weak self] in self?.didEnd(result) }
      }
    } else {
      let length = simulatedClock?.takeLength(of: "save")
      tasks.startOnMainActor { [weak self, clock = application?.clock] in
        if let length { try? await clock?.sleep(for: length) }
        guard let self, !hasEnded else { return }
        didEnd(job())
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

  /// Takes the changed values, and returns what encodes and writes them on any thread; nil if nothing has changed.
  private func nextJob() -> (@Sendable () -> Result)? {
    let sessions = application?.openSessions.map(\.identifier.rawValue) ?? []
    guard !changed.isEmpty || hasDropped || sessions != state.contents.sessions else { return nil }
    timer = nil
    let snapshots = changed.map { value in
      value.change = .taken
      return Snapshot(
        name: value.name, version: value.version, keepsPresent: value.hasUnreadableEntry, encode: value.snapshot())
    }
    taken = changed
    changed = []
    if state.isUnread {
      state.setAside(.current, as: .unread, because: "it could not be read as the process began")
      state.isUnread = false
    }
    var contents = state.contents
    let mustWrite = hasDropped || sessions != contents.sessions
    contents.sessions = sessions
    hasDropped = false
    return { [contents, storage, program] in
      Self.save(snapshots, over: contents, mustWrite: mustWrite, of: program, in: storage)
    }
  }

  /// The values that the running save has taken.
  private var taken: [any AnySavedValue] = []

  private nonisolated static func save(
    _ snapshots: [Snapshot], over contents: SavedContents, mustWrite: Bool, of program: String,
    in storage: any StateStorage
  ) -> Result {
    var result = Result(contents: contents)
    var isChanged = mustWrite
    for snapshot in snapshots {
      do {
        let entry = StateDocument.Entry(name: snapshot.name, version: snapshot.version, json: try snapshot.encode())
        if result.contents.update(entry, keepsPresent: snapshot.keepsPresent) { isChanged = true }
      } catch {
        result.unencoded.append((snapshot.name.key, String(describing: error)))
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

  private func didEnd(_ result: Result) {
    guard !hasEnded, let completions = running else { return }
    running = nil
    let taken = taken
    self.taken = []
    for value in taken where value.change == .taken {
      value.change = result.failure == nil ? .none : .changed
      if result.failure == nil { value.hasUnreadableEntry = false } else { changed.append(value) }
    }
    var failure = result.failure
    if failure == nil { state.contents = result.contents } else { hasDropped = true }
    for session in closedMeanwhile where state.contents.drop(session) { hasDropped = true }
    closedMeanwhile = []
    for (key, reason) in result.unencoded {
      let error = SavedStateError.notEncoded(key: key, reason: reason)
      state.report(error)
      failure = failure ?? error
    }
    if let reason = result.failure { state.report(reason) } else if failure == nil { state.saveDidSucceed() }
    for completion in completions { completion(failure) }
    guard !waiting.isEmpty else { return }
    let next = waiting
    waiting = []
    begin(next)
  }
}
