public import AppLifecycle
public import Observation
import PubSub
import Scheduling

/// What the user was doing, kept across suspension, kills and power cuts.
///
///     @MainActor final class NoteEditor {
///       private let draft: SavedValue<Draft>
///       init(application: Application) throws {
///         draft = try application.savedState.value("draft", default: Draft())
///       }
///       func type(_ text: String) { draft.value.text += text }
///     }
///
/// State is restored once in each process, between `applicationWillFinishLaunching` and `applicationDidFinishLaunching`. It is saved
/// within the budget of `didEnterBackground` and `willTerminate`, after the handlers and releases of that step; when the application
/// resigns active; some time after a change while the program runs on (``Configuration/autosaveInterval``); and by ``save()``.
/// Values that have not changed cost no write.
///
/// A save replaces the file as a whole. Whenever the process or the machine dies, the next process finds the state of the last save
/// that ended, or that of a later one. The file is encoded and written on a thread that does nothing else.
///
/// All members are used on the main actor.
@MainActor public final class SavedState: Observable {
  /// The configuration.
  public nonisolated let configuration: Configuration
  /// How the restoration ended; nil before it.
  ///
  /// Observable.
  public internal(set) var outcome: RestorationOutcome? {
    get {
      registrar.access(self, keyPath: \.outcome)
      return restoration
    }
    set { registrar.withMutation(of: self, keyPath: \.outcome) { restoration = newValue } }
  }
  /// Why the latest restoration or save was not complete; nil once a save has succeeded.
  ///
  /// Each problem is also posted as `EventBus.HandlerFailure`, is in the application's ledger, and is reported by the host. Observable.
  public private(set) var problem: SavedStateError? {
    get {
      registrar.access(self, keyPath: \.problem)
      return latestProblem
    }
    set {
      registrar.withMutation(of: self, keyPath: \.problem) { latestProblem = newValue }
      application?.bus.post(ProblemDidChange(problem: newValue), from: self)
    }
  }

  let program: String
  let storage: any StateStorage
  var application: Application? { reference.application }
  private let reference: ApplicationReference
  private let registrar = ObservationRegistrar()
  private var restoration: RestorationOutcome?
  private var latestProblem: SavedStateError?
  /// What was reported, and is not over.
  private var told: Set<SavedStateError> = []
  /// The values that the program has made.
  private var values: [StateDocument.Name: any AnySavedValue] = [:]
  /// Those that were made before the restoration, in this order.
  private var unrestored: [any AnySavedValue] = []
  /// What is in the file.
  var contents = SavedContents()
  /// The reason for which nothing is saved; nil if state is kept.
  var obstacle: SavedStateError?
  /// What could not be read or renamed, so that the next save must set it aside.
  var delayed: [DelayedSetAside] = []
  /// Whether it is known that the generation before may be replaced.
  var hasCheckedPrevious = false
  let saving: Saving
  /// What is told of the application's activity; empty once the process has ended.
  var subscriptions: [EventBus.OwnedSubscription] = []
  /// Runs while the application is active, or in the background since its launch, until a crash is not the state's fault any
  /// more.
  var settling: StateTimer?
  /// Whether no crash is restored state's fault, because none was restored, or has done no harm for a while.
  var hasSettled = true
  /// Whether it has settled in the background, and the application has not been active since.
  var hasSettledInBackground = false

  init(of application: Application, _ program: String, _ configuration: Configuration, in storage: any StateStorage) {
    (reference, self.program) = (application.reference, program)
    (self.configuration, self.storage) = (configuration, storage)
    saving = Saving(in: storage, of: application, program, every: configuration.autosaveInterval)
    saving.state = self
    followActivity(of: application)
  }

  // MARK: Values

  /// Returns the value of a key, which the program's next process finds again.
  ///
  /// The value has what was saved, or the default. Before the restoration it has the default, and then changes. Two calls with one key
  /// return the same object.
  ///
  /// - Parameters:
  ///   - key: the name of the value in the file, 1 to 255 bytes long.
  ///   - default: the value if none was saved.
  ///   - version: the number of the type's present form. Raise it when the form changes, and migrate the older ones.
  ///   - fileID: the module and file of the call, for the error of a conflict.
  ///   - line: the line of the call.
  ///   - migrate: makes a value of an older form into one of the present form. What it throws is reported as
  ///     ``SavedStateError/notDecoded(key:reason:)``. The older one stays in the file for older programs.
  /// - Returns: the value.
  /// - Throws: ``SavedStateError/invalidKey(_:)``, or ``SavedStateError/conflict(key:first:second:)`` if the key has a value of another
  ///   type or version.
  /// - Complexity: that of decoding the value.
  public func value<Value: Codable & Sendable>(
    _ key: String, default: Value, version: Int = 1, fileID: String = #fileID, line: Int = #line,
    migrate: (@MainActor (OlderValue) throws -> Value)? = nil
  ) throws(SavedStateError) -> SavedValue<Value> {
    try value(
      StateDocument.Name(key: key), `default`, Migration(version: version, migrate: migrate), at: "\(fileID):\(line)")
  }

  func value<Value: Codable & Sendable>(
    _ name: StateDocument.Name, _ default: Value, _ migration: Migration<Value>, at place: String
  ) throws(SavedStateError) -> SavedValue<Value> {
    guard 1...255 ~= name.key.utf8.count else { throw .invalidKey(name.key) }
    let value = SavedValue(name, `default`, migration, at: place, of: self)
    if let present = values[name] {
      if let present = present as? SavedValue<Value>, present.version == migration.version { return present }
      throw .conflict(key: name.key, first: present.text, second: value.text)
    }
    // One of a closed window would be saved, and found by a new window of that name.
    guard name.session.map(isOpen) ?? true else { return value }
    values[name] = value
    if restoration != nil { restore(value) } else { unrestored.append(value) }
    return value
  }

  func restore(_ value: any AnySavedValue) {
    if let entries = contents.entries[value.name] {
      if let error = value.restore(from: entries) {
        value.hasUnreadableEntry = true
        report(.notDecoded(key: value.name.key, reason: Self.text(of: error)))
      }
      if value.change == .changed { saving.didChange(value) }
    }
    if let witness = application?.stateWitness, let text = try? value.snapshot()() {
      witness.didFind(String(decoding: text, as: UTF8.self), as: value.name.witnessed)
    }
  }

  /// Gives each value what was restored.
  func restoreValues() {
    for value in unrestored where has(value) { restore(value) }
    unrestored = []
  }

  /// Returns whether a value is the present one of its name: its window may have been closed since it was made.
  func has(_ value: any AnySavedValue) -> Bool { values[value.name] === value }

  private func isOpen(_ session: String) -> Bool {
    application?.openSessions.contains { $0.identifier.rawValue == session } ?? false
  }

  /// Forgets the values of a window that was closed.
  func dropValues(of session: String) { values = values.filter { name, _ in name.session != session } }

  /// The present values, encoded; those that cannot be are left out.
  func encodedValues() -> [StateValueName: String] {
    var texts: [StateValueName: String] = [:]
    for (name, value) in values {
      if let text = try? value.snapshot()() { texts[name.witnessed] = String(decoding: text, as: UTF8.self) }
    }
    return texts
  }

  // MARK: Saving

  /// Saves what has changed since the last save.
  ///
  /// It returns when the state is on the disk: the next process finds it whatever happens from now on. It returns at once if nothing has
  /// changed. Saves never overlap.
  ///
  /// - Throws: the reason for which the state was not saved. What was saved before stays; the next save tries again.
  public func save() async throws(SavedStateError) {
    let failure = await withCheckedContinuation { waiter in saving.request { waiter.resume(returning: $0) } }
    if let failure { throw failure }
  }

  // MARK: Problems

  /// Tells of the problems of a save that has ended; without any, earlier ones are over.
  func saveDidEnd(with problems: [SavedStateError]) {
    told.formIntersection(problems)
    for problem in problems { report(problem) }
    if problems.isEmpty, latestProblem != nil { problem = nil }
  }

  /// Tells the program, its ledger and its host of a problem; once, as long as each save has it.
  func report(_ error: SavedStateError) {
    if error != latestProblem { problem = error }
    guard told.insert(error).inserted else { return }
    application?.bus.report(
      EventBus.HandlerFailure(
        subscriber: EventBus.Subscriber(label: "saved state"),
        eventName: EventName(rawValue: CallStep.savedState.rawValue), error: error))
  }

  nonisolated static func text(of error: any Error) -> String {
    switch error {
    case StateDocument.Problem.damaged(let text), StateDocument.Problem.foreign(let text): text
    case EncodingError.invalidValue(_, let context): context.debugDescription
    case DecodingError.dataCorrupted(let context), DecodingError.typeMismatch(_, let context),
      DecodingError.keyNotFound(_, let context), DecodingError.valueNotFound(_, let context):
      context.debugDescription
    default: String(describing: error)
    }
  }
}

extension Application.Scene.WindowState {
  /// Returns the value of a key of the window.
  ///
  /// After the window was closed, each call returns a value of its own, which has the default and is not saved. Everything else is as with
  /// ``SavedState/value(_:default:version:fileID:line:migrate:)``.
  ///
  /// - Parameters:
  ///   - key: the name of the value in the file, unique for the window, 1 to 255 bytes long.
  ///   - default: the value if none was saved.
  ///   - version: the number of the type's present form.
  ///   - fileID: the module and file of the call.
  ///   - line: the line of the call.
  ///   - migrate: makes a value of an older form into one of the present form.
  /// - Returns: the value.
  /// - Throws: ``SavedStateError/invalidKey(_:)`` or ``SavedStateError/conflict(key:first:second:)``; ``SavedStateError/notKept(reason:)`` if
  ///   the application exists no more.
  public func value<Value: Codable & Sendable>(
    _ key: String, default: Value, version: Int = 1, fileID: String = #fileID, line: Int = #line,
    migrate: (@MainActor (SavedState.OlderValue) throws -> Value)? = nil
  ) throws(SavedStateError) -> SavedValue<Value> {
    guard let application else { throw .notKept(reason: "the application exists no more") }
    return try application.savedState.value(
      StateDocument.Name(session: session.rawValue, key: key), `default`,
      SavedState.Migration(version: version, migrate: migrate), at: "\(fileID):\(line)")
  }
}
