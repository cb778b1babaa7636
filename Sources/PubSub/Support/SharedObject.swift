/// The object that stands for the program while a test runs: `Application.shared`, which tests that run in parallel do not share.
///
/// The value is nil in a program. It is one that internal tasks keep, although they start detached: what they lead to has
/// to find the test's object. An asynchronous handler sees the object that the code saw which subscribed it.
package enum SharedObject {
  @TaskLocal package static var current: (any AnyObject & Sendable)?
}
