import AppLifecycle
import Foundation
import LifecycleJournal
import PubSub
import Scheduling
import TestFiles

@testable import SavedState

/// What the tests save: parts that must agree, so that a mixture of two states is seen.
struct Work: Codable, Sendable, Hashable {
  var number: Int
  var payload: String

  init(_ number: Int, length: Int = 40) {
    self.number = number
    payload = String(repeating: "\(number % 10)", count: length)
  }

  var isWhole: Bool { payload.allSatisfy { $0 == "\(number % 10)".first } }
}

/// One process of a program that keeps its state in files.
@MainActor final class Life {
  @MainActor final class Delegate {
    var outcome: RestorationOutcome?
  }

  let application: Application
  private let delegate = Delegate()
  let work: SavedValue<Work>
  let copy: SavedValue<Int>
  private final class Told: Sendable { let errors = Guarded<[SavedStateError]>([]) }

  private let told = Told()
  private let subscription: EventBus.Subscription

  init(_ storage: any StateStorage) throws {
    application = Application(delegate: delegate)
    application.stateStorage = storage
    let told = told
    subscription = application.bus.subscribe(to: EventBus.HandlerFailure.self) { failure in
      if let error = failure.error as? SavedStateError { told.errors.withLock { $0.append(error) } }
    }
    work = try application.savedState.value("work", default: Work(0))
    copy = try application.savedState.value("copy", default: 0)
  }

  convenience init(
    in directory: String, _ files: any FileCalls = SystemFiles(), _ configuration: SavedState.Configuration = .init(),
    user: UInt32 = SystemFiles.user
  ) throws {
    try self.init(StateFiles(in: directory, configuration, files: files, user: user))
  }

  /// Starts a process that finds what the one before has left.
  static func launched(
    in directory: String, _ files: any FileCalls = SystemFiles(), _ configuration: SavedState.Configuration = .init(),
    user: UInt32 = SystemFiles.user
  ) async throws -> Life {
    let life = try Life(in: directory, files, configuration, user: user)
    await life.application.handle(.launch)
    return life
  }

  var state: SavedState { application.savedState }
  var outcome: RestorationOutcome? { delegate.outcome }
  var errors: [SavedStateError] { told.errors.withLock { $0 } }

  /// The number that it has; nil if what it has is a mixture.
  var number: Int? { work.value.isWhole && work.value.number == copy.value ? copy.value : nil }

  /// Changes everything, and saves it; returns whether that is acknowledged.
  func save(_ number: Int, length: Int = 40) async -> Bool {
    (work.value, copy.value) = (Work(number, length: length), number)
    do {
      try await state.save()
      return true
    } catch {
      return false
    }
  }

  /// Saves one number after another; returns which of them are acknowledged.
  func saves(_ numbers: Int...) async -> [Bool] {
    var acknowledged: [Bool] = []
    for number in numbers { acknowledged.append(await save(number)) }
    return acknowledged
  }

  func end() async { await application.handle(.terminate) }

  /// The program's name in its files.
  nonisolated static var program: String { RunFacts.ofThisProcess().program }

  /// The file of a state with a number.
  nonisolated static func file(_ number: Int, of program: String = program, length: Int = 40) throws -> [UInt8] {
    func entry(_ key: String, _ json: String) -> StateDocument.Entry {
      .init(name: .init(session: nil, key: key), version: 1, json: .init(json.utf8))
    }
    let payload = Work(number, length: length).payload
    return try StateDocument(
      program: program,
      entries: [
        entry("work", "{\"number\":\(number),\"payload\":\"\(payload)\"}"), entry("copy", "\(number)"),
      ]
    ).encoded()
  }
}

extension TemporaryDirectory {
  /// Makes the two generations of a state.
  func keep(current: [UInt8]?, previous: [UInt8]? = nil) throws {
    for (name, bytes) in [("saved-state", current), ("saved-state.previous", previous)] {
      try? SystemFiles().remove(file(name))
      if let bytes { try write(bytes, to: file(name)) }
    }
  }
}

/// Makes a file with some bytes.
func write(_ bytes: [UInt8], to path: String) throws {
  let files = SystemFiles()
  let descriptor = try files.makeFile(path, mode: 0o600)
  defer { files.close(descriptor) }
  _ = try bytes.withUnsafeBytes { all throws(FileError) in try files.write(all, to: descriptor) }
}

extension Life.Delegate: SavedStateDelegate {
  func application(_ application: Application, didRestoreState outcome: RestorationOutcome) { self.outcome = outcome }
}
