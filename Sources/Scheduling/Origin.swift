/// The part of the program's code that started the present task, directly or indirectly; a plain `Task {}` inherits it.
///
/// An asynchronous handler binds nothing here; `Origin.current` (HandlerContext.swift) knows it, too.
package enum Origin {
  /// The code, an `EventBus.Subscriber`.
  ///
  /// Only simulations, and buses with a task executor, bind it: for delegate calls, for synchronous handlers of waiting
  /// posts, for tasks of the application, for bodies of `run(while:)`, and for background tasks. The package's other
  /// tasks bind nil.
  @TaskLocal package static var bound: (any Sendable)?
}
