/// The `Application.shared` of a test, as a task-local value, so that tests that run in parallel do not share it; nil
/// in a program.
///
/// The package's detached tasks bind this value again. An asynchronous handler has that of the code that subscribed.
package enum SharedObject {
  @TaskLocal package static var current: (any AnyObject & Sendable)?
}

/// A weak reference that can be kept in a `let`.
package final class WeakReference: Sendable {
  /// The object; nil after it has been released.
  package weak let object: (any AnyObject & Sendable)?

  /// Makes a reference.
  package init(_ object: any AnyObject & Sendable) { self.object = object }
}
