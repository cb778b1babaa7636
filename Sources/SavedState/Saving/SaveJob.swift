import AppLifecycle
import JSONReading
import Scheduling

/// A save that the first caller performs, on any thread; further callers wait for its result.
final class SaveJob: Sendable {
  /// What a save takes from the main actor.
  struct Work: Sendable {
    let program: String
    let storage: any StateStorage
    /// The changed values.
    var snapshots: [Snapshot] = []
    /// The windows that are open.
    var sessions: [String] = []
    /// What the file has, as far as is known.
    var contents: SavedContents
    /// Whether the file may have something else, so that it is written in any case.
    var mustWrite = false
    /// What must be set aside before.
    var delayed: [DelayedSetAside] = []
    var hasCheckedPrevious = false
  }

  /// A value as it was when its save began.
  struct Snapshot: Sendable {
    let name: StateDocument.Name
    let version: Int
    /// Whether the file's value could not be decoded, so that it is kept.
    let keepsPresent: Bool
    /// The JSON of the kept one that was restored instead.
    let restored: Data?
    let encode: @Sendable () throws -> Data
  }

  /// What became of a save.
  struct Result: Sendable {
    var contents: SavedContents
    var unencoded: [(name: StateDocument.Name, reason: String)] = []
    /// What must still be set aside.
    var delayed: [DelayedSetAside]
    /// What was set aside, by its new name.
    var setAside: [(path: String, reason: String)] = []
    var hasCheckedPrevious: Bool
    var failure: SavedStateError?
  }

  private let work: Work
  private let result = Guarded<Result?>(nil)

  init(_ work: Work) { self.work = work }

  /// Returns the result; performs the save if no other caller has.
  @discardableResult func perform() -> Result {
    result.withLock { result in
      let known = result ?? work.perform()
      result = known
      return known
    }
  }
}

extension SaveJob.Work {
  fileprivate func perform() -> SaveJob.Result {
    var result = SaveJob.Result(contents: contents, delayed: delayed, hasCheckedPrevious: hasCheckedPrevious)
    do {
      try save(&result)
    } catch let error as StateStorageError {
      result.failure = .notWritten(path: error.place, reason: error.reason)
    } catch StateDocument.Problem.foreign(let reason) {
      result.failure = .notKept(reason: reason)
    } catch {
      result.failure = .notWritten(path: "saved-state", reason: String(describing: error))
    }
    return result
  }

  private func save(_ result: inout SaveJob.Result) throws {
    var isChanged = result.contents.keep(sessions: sessions) || mustWrite
    for snapshot in snapshots {
      do {
        let entry = StateDocument.Entry(name: snapshot.name, version: snapshot.version, json: try snapshot.encode())
        if result.contents.update(entry, keepsPresent: snapshot.keepsPresent, replacing: snapshot.restored) {
          isChanged = true
        }
      } catch {
        result.unencoded.append((snapshot.name, SavedState.text(of: error)))
      }
    }
    guard isChanged else { return }
    for delayed in delayed {
      if try look(at: delayed.generation).isThere { try setAside(delayed, &result) }
      result.delayed.removeFirst()
    }
    if !result.hasCheckedPrevious, let error = try look(at: .previous).error {
      let kind: SetAsideReason = error.kind == .damaged ? .damaged : .unread
      try setAside(DelayedSetAside(generation: .previous, kind: kind, reason: error.reason), &result)
    }
    result.hasCheckedPrevious = true
    try storage.replace(with: try result.contents.document(of: program).encoded())
  }

  /// Looks at a generation, which is to be renamed or replaced; throws if it is another program's or a newer version's.
  ///
  /// - Returns: whether there is one, and why its bytes, which may be another program's, cannot be had; nil if they can.
  private func look(at generation: StateGeneration) throws -> (isThere: Bool, error: StateStorageError?) {
    do {
      guard let bytes = try storage.read(generation) else { return (false, nil) }
      _ = try StateDocument(bytes, of: program)
    } catch StateDocument.Problem.foreign(let reason) {
      throw StateDocument.Problem.foreign(generation == .previous ? "the generation before: \(reason)" : reason)
    } catch let error as StateStorageError {
      if error.kind == .foreign { throw error }
      return (true, error)
    } catch {
      // Damaged: the program that wrote it cannot use it any more.
    }
    return (true, nil)
  }

  private func setAside(_ delayed: DelayedSetAside, _ result: inout SaveJob.Result) throws {
    let path = try storage.setAside(delayed.generation, as: delayed.kind)
    result.setAside.append((path, delayed.reason))
  }
}
