/// The part of the program's code that started the present task, directly or indirectly.
///
/// A plain `Task {}` inherits it. So a task can be traced to the handler that started it, even after that handler has
/// returned.
package enum Origin {
  /// The code for which the present task was started, or the call in which it runs; an `EventBus.Subscriber`.
  ///
  /// Only simulations bind it: for delegate calls, for synchronous handlers of waiting posts, for tasks of the
  /// application, for bodies of `run(while:)`, and for background tasks. The package's other tasks bind nil.
  @TaskLocal package static var bound: (any Sendable)?
}
