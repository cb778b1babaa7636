internal import Observation
internal import Synchronization

/// What Observation is told of an object's properties: nothing before the program has read one of them.
///
/// Observation tracks what has been read. So an object that no code reads has no observer, and its changes cost one look at a flag;
/// told to a registrar, each would cost two locks.
struct ObservedChanges: ~Copyable, Sendable {
  private let registrar = ObservationRegistrar()
  private let wereRead = Atomic(false)

  /// A property is about to be read; any thread, outside of locks.
  func access<Subject: Observable, Member>(_ subject: Subject, _ property: KeyPath<Subject, Member>) {
    // Looked at first, as many threads may read and the flag's cache line is theirs in common.
    if !wereRead.load(ordering: .relaxed) { wereRead.store(true, ordering: .sequentiallyConsistent) }
    registrar.access(subject, keyPath: property)
  }

  /// Changes a property, and tells its observers before and after; any thread, outside of locks.
  func change<Subject: Observable, Member>(
    _ subject: Subject, _ property: @autoclosure () -> KeyPath<Subject, Member>, _ change: () -> Void
  ) {
    guard wereRead.load(ordering: .sequentiallyConsistent) else { return change() }
    registrar.withMutation(of: subject, keyPath: property(), change)
  }
}
