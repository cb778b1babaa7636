/// The piece of the program's code from which the present task stems.
///
/// A plain `Task {}` inherits it, and so can be traced to the handler that started it, also when that handler has returned.
package enum Origin {
  /// What the present task was started for, or the call in which it runs.
  ///
  /// Bound in simulations alone: by calls of a delegate, by synchronous handlers of the life cycle's notifications, by tasks of
  /// the application, bodies of `run(while:)` and background tasks. The package's other tasks bind nil.
  @TaskLocal static var bound: Subscriber?

  /// The asynchronous handler, else the other code; nil if neither is known.
  package static var current: Subscriber? { HandlerContext.current?.run?.receiver.subscriber ?? bound }
}
