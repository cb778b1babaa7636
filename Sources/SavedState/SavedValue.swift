import JSONReading
public import Observation

/// A value of the program that the next process finds again.
///
/// Make one with ``SavedState/value(_:default:version:fileID:line:migrate:)``. Every change is saved when the application leaves the
/// foreground or ends, and now and then in between. The value is observable.
@MainActor public final class SavedValue<Value: Codable & Sendable>: Observable {
  /// The name of the value in the saved state.
  public nonisolated let key: String
  private weak var owner: SavedState?
  private let registrar = ObservationRegistrar()
  private var stored: Value
  let migration: SavedState.Migration<Value>
  let name: StateDocument.Name
  let place: String
  var change = ValueChange.none
  var hasUnreadableEntry = false
  private(set) var restoredEntry: Data?

  init(
    _ name: StateDocument.Name, _ value: Value, _ migration: SavedState.Migration<Value>, at place: String,
    of owner: SavedState
  ) {
    (self.name, key, stored) = (name, name.key, value)
    (self.migration, self.place, self.owner) = (migration, place, owner)
  }

  /// The value.
  ///
  /// Read and write it on the main actor, also in handlers of `DidEnterBackground` and `WillTerminate` and in releases: the save of that
  /// step follows them. A part may be changed in place.
  public var value: Value {
    get {
      registrar.access(self, keyPath: \.value)
      return stored
    }
    set {
      registrar.withMutation(of: self, keyPath: \.value) { stored = newValue }
      didChange()
    }
    _modify {
      registrar.access(self, keyPath: \.value)
      registrar.willSet(self, keyPath: \.value)
      defer {
        registrar.didSet(self, keyPath: \.value)
        didChange()
      }
      yield &stored
    }
  }

  private func didChange() {
    guard change != .changed else { return }
    change = .changed
    owner?.saving.didChange(self)
  }
}

/// Whether a value differs from what was saved.
enum ValueChange {
  case none, changed
  /// A save that is under way has taken the value.
  case taken
  /// A save could not encode the value; later ones try again.
  case unencoded
}

/// A value of any type, as the saved state sees it.
@MainActor protocol AnySavedValue: AnyObject {
  var name: StateDocument.Name { get }
  var version: Int { get }
  var change: ValueChange { get set }
  /// Whether what was saved could not be decoded, so that the next save keeps it beside the new value.
  var hasUnreadableEntry: Bool { get set }
  /// The JSON of the entry that was restored, if it was one that another program had kept; nil otherwise.
  var restoredEntry: Data? { get }
  /// The type and the place of the value, for messages.
  var text: String { get }
  /// Returns what encodes the present value on any thread.
  func snapshot() -> @Sendable () throws -> Data
  /// Takes the newest of the saved entries that can be decoded; returns the reason if that is not the newest one.
  func restore(from entries: [StateDocument.Entry]) -> (any Error)?
}

extension SavedValue: AnySavedValue {
  var version: Int { migration.version }

  var text: String { "\(Value.self), version \(version), at \(place)" }

  func snapshot() -> @Sendable () throws -> Data {
    let value = stored
    return { try value.encodedJSON() }
  }

  func restore(from entries: [StateDocument.Entry]) -> (any Error)? {
    var failure: (any Error)?
    // The program's own version first, and what was kept for want of a decoder last; then the older ones.
    let usable = entries.filter { $0.version <= version }.sorted { one, other in
      one.version == other.version ? !one.isKept && other.isKept : one.version > other.version
    }
    for entry in usable {
      do {
        let value = try migration.decode(entry)
        registrar.withMutation(of: self, keyPath: \.value) { stored = value }
        change = entry.version == version && !entry.isKept ? .none : .changed
        restoredEntry = entry.version == version && entry.isKept ? entry.json : nil
        return failure
      } catch { failure = failure ?? error }
    }
    return failure ?? (entries.isEmpty ? nil : StateDocument.Problem.foreign("a newer program wrote it"))
  }
}

extension SavedState {
  /// A saved value of an older version, for a closure that migrates it.
  public struct OlderValue: Sendable {
    /// The version with which it was saved.
    public let version: Int
    let json: Data

    /// Decodes the value.
    ///
    /// - Parameter type: the type that the program of that version saved.
    /// - Returns: the value.
    /// - Throws: the decoder's error.
    public func decode<Old: Decodable>(_ type: Old.Type) throws -> Old { try json.decodedJSON(as: type) }
  }

  /// How saved values become values of the program's present type.
  struct Migration<Value: Codable & Sendable> {
    let version: Int
    let migrate: (@MainActor (OlderValue) throws -> Value)?

    @MainActor func decode(_ entry: StateDocument.Entry) throws -> Value {
      if entry.version == version { return try entry.json.decodedJSON(as: Value.self) }
      guard let migrate else {
        throw StateDocument.Problem.foreign("it has version \(entry.version), and nothing migrates it")
      }
      return try migrate(OlderValue(version: entry.version, json: entry.json))
    }
  }
}
