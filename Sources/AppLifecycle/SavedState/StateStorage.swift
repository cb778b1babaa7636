/// Where the bytes of saved state are between two processes: files, or the memory of a simulated device.
///
/// It knows nothing of what is in the bytes. The calls are made one after another; `replace` may be made on any thread.
package protocol StateStorage: AnyObject, Sendable {
  /// Takes the storage for this process, and tells what the process before has left.
  func open() throws(StateStorageError) -> StateOpening
  /// Returns the bytes of a generation; nil if there is none.
  func read(_ generation: StateGeneration) throws(StateStorageError) -> [UInt8]?
  /// Gives the bytes of a generation another name, which is returned, so that they are never read as state again.
  func setAside(_ generation: StateGeneration, as reason: SetAsideReason) throws(StateStorageError) -> String
  /// Replaces the state as a whole, and keeps the present one as the generation before.
  func replace(with bytes: [UInt8]) throws(StateStorageError)
  /// Notes a step of this process, for the case that it crashes.
  func note(_ mark: StateMark)
  /// Leaves the storage to other processes.
  func close()
}

/// One of the two states that are kept.
package enum StateGeneration: Sendable, Hashable, CaseIterable {
  case current
  case previous
}

/// Why state is set aside; the raw value is a part of the file's new name.
package enum SetAsideReason: String, Sendable, Hashable {
  case damaged
  /// It could not be read when the process began, and what the process has saved since takes its place.
  case unread
  /// The process that had restored it crashed soon afterwards.
  case crashed
}

/// A step of a process that has restored state.
package enum StateMark: String, Sendable, Hashable {
  /// The state was restored: a crash from now on may be its fault.
  case restored
  /// The application has been active for a while, so that no crash is the state's fault any more.
  case settled
}

/// What a process finds when it takes the storage.
package struct StateOpening: Sendable, Hashable {
  /// Whether this process may replace the state; false if another one holds it.
  package var mayReplace: Bool
  /// Whether the process before had restored state, and crashed before it settled.
  package var hasCrashedAfterRestoring: Bool

  package init(mayReplace: Bool = true, hasCrashedAfterRestoring: Bool = false) {
    (self.mayReplace, self.hasCrashedAfterRestoring) = (mayReplace, hasCrashedAfterRestoring)
  }
}

/// The reason for which the storage failed.
package struct StateStorageError: Error, Sendable, Hashable {
  /// The file, or another name of the place.
  package var place: String
  /// The system's words, or those of the storage.
  package var reason: String
  package var kind: Kind

  package enum Kind: Sendable, Hashable {
    /// A call failed; another try may work.
    case failed
    /// What stands at the place is not the program's own, and must not be replaced.
    case foreign
    /// What stands at the place cannot be the program's state.
    case damaged
  }

  package init(place: String, reason: String, _ kind: Kind = .failed) {
    (self.place, self.reason, self.kind) = (place, reason, kind)
  }
}
