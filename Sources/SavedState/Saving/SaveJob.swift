import Scheduling

/// What became of a save.
struct SaveResult: Sendable {
  var contents: SavedContents
  var unencoded: [(name: StateDocument.Name, reason: String)] = []
  var failure: SavedStateError?
}

/// A save that whoever comes first performs, on any thread; the others wait for its result.
final class SaveJob: Sendable {
  private let work: @Sendable () -> SaveResult
  private let result = Guarded<SaveResult?>(nil)

  init(_ work: @escaping @Sendable () -> SaveResult) { self.work = work }

  /// Returns the result, for which it performs the save if nobody has.
  @discardableResult func perform() -> SaveResult {
    result.withLock { result in
      let known = result ?? work()
      result = known
      return known
    }
  }
}
