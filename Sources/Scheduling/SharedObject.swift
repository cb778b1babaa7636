/// The `Application.shared` of a test, as a task-local value, so that tests that run in parallel do not share it; nil
/// in a program.
///
/// The package's detached tasks bind this value again. An asynchronous handler has that of the code that subscribed.
package enum SharedObject {
  @TaskLocal package static var current: (any AnyObject & Sendable)?
}

/// A reference to a shared object that does not retain it, as the value of ``SharedObject/current``.
///
/// The tasks of an object inherit the value. If it retained the object, a task that sleeps would keep its object alive.
package final class WeakSharedObject: Sendable {
  /// The object; nil after it has been released.
  package weak let object: (any AnyObject & Sendable)?

  /// Makes a reference.
  package init(_ object: any AnyObject & Sendable) { self.object = object }
}
