/// The `Application.shared` of a test, as a task-local value, so that tests that run in parallel do not share it; nil
/// in a program.
///
/// The package's detached tasks bind this value again. An asynchronous handler has that of the code that subscribed.
package enum SharedObject {
  @TaskLocal package static var current: (any AnyObject & Sendable)?
}
