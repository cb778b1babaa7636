internal import Observation
internal import Synchronization

/// Notifies Observation of reads and changes of an object's properties, once the program has read one of them.
///
/// Observation tracks properties that have been read. So an object whose properties no code has read has no observers.
/// A change then costs one check of a flag, where the registrar would take two locks.
struct LazyObservationRegistrar: ~Copyable, Sendable {
  private let registrar = ObservationRegistrar()
  private let wereRead = Atomic(false)

  /// Whether changes are told to Observation.
  var isUsed: Bool { wereRead.load(ordering: .sequentiallyConsistent) }

  /// Registers that a property is about to be read.
  ///
  /// Any thread may call this, without holding a lock.
  func access<Subject: Observable, Member>(_ subject: Subject, _ property: KeyPath<Subject, Member>) {
    // Load before storing: many threads may read, and they share the flag's cache line.
    if !wereRead.load(ordering: .relaxed) { wereRead.store(true, ordering: .sequentiallyConsistent) }
    registrar.access(subject, keyPath: property)
  }

  /// Changes a property, and notifies its observers before and after.
  ///
  /// Any thread may call this, without holding a lock.
  func change<Subject: Observable, Member>(
    _ subject: Subject, _ property: @autoclosure () -> KeyPath<Subject, Member>, _ change: () -> Void
  ) {
    guard isUsed else { return change() }
    registrar.withMutation(of: subject, keyPath: property(), change)
  }
}
