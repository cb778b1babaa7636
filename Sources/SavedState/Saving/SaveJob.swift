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
    /// The new names of those of the delayed ones that are dealt with; nil for one that is not there any more.
    var setAside: [String?] = []
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
    var result = SaveJob.Result(contents: contents, hasCheckedPrevious: hasCheckedPrevious)
    do {
      try save(&result)
    } catch let error as StateStorageError {
      result.failure = .notWritten(path: error.place, reason: error.reason)
    } catch StateDocument.Problem.foreign(let reason) {
      result.failure = .notKept(reason: "the generation before: \(reason)")
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
      var isThere = true
      // What cannot be read is there.
      do { isThere = try storage.read(delayed.generation) != nil } catch {}
      result.setAside.append(isThere ? try storage.setAside(delayed.generation, as: delayed.kind) : nil)
    }
    if !result.hasCheckedPrevious { try checkPrevious() }
    result.hasCheckedPrevious = true
    try storage.replace(with: try result.contents.document(of: program).encoded())
  }

  /// Throws if the generation before, which a save replaces, is another program's or a newer version's.
  private func checkPrevious() throws {
    do {
      if let bytes = try storage.read(.previous) { _ = try StateDocument(bytes, of: program) }
    } catch StateDocument.Problem.foreign(let reason) {
      throw StateDocument.Problem.foreign(reason)
    } catch {
      // Damaged, or not to be read: the present state takes its place.
    }
  }
}
