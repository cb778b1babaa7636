/// The `Application.shared` of a test, as a task-local value, so that tests that run in parallel do not share it.
///
/// In a program the value is nil. The package's internal tasks are detached, but bind this value again, so that the
/// code that they call finds the test's object. An asynchronous handler has the value that its subscriber had when it
/// subscribed.
package enum SharedObject {
  @TaskLocal package static var current: (any AnyObject & Sendable)?
}
