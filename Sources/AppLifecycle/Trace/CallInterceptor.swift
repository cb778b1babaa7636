/// Code that runs around the calls of an application: it binds task-local values, or opens a span.
///
/// ``Application/Configuration/interceptors`` has those of an application. The work of an application inherits no
/// task-local value of the code that causes it; an interceptor is the place to bind one:
///
///     struct RequestLogger: CallInterceptor {
///       let logger: Logger
///       func intercept<Result>(
///         _ call: TracedCall, _ operation: () throws -> Result
///       ) rethrows -> Result {
///         try withLogger(logger) { _ in try operation() }
///       }
///       nonisolated(nonsending) func intercept<Result>(
///         _ call: TracedCall, _ operation: nonisolated(nonsending) () async throws -> Result
///       ) async rethrows -> Result {
///         try await withLogger(logger) { _ in try await operation() }
///       }
///     }
///
/// The methods call the operation once, return its result and throw its error. They run on the actor of the call, in its
/// task: on the main actor, except for asynchronous handlers on other actors. The time that they take counts toward the
/// call and its budget.
public protocol CallInterceptor: Sendable {
  /// Runs a synchronous call: a method of a delegate, or a synchronous handler.
  ///
  /// - Parameters:
  ///   - call: what is called.
  ///   - operation: calls it.
  /// - Returns: the result of the operation.
  /// - Throws: the error of the operation.
  func intercept<Result>(_ call: TracedCall, _ operation: () throws -> Result) rethrows -> Result

  /// Runs an asynchronous call: an asynchronous handler, an operation of a resource, a body, or a task.
  ///
  /// - Parameters:
  ///   - call: what is called.
  ///   - operation: calls it.
  /// - Returns: the result of the operation.
  /// - Throws: the error of the operation.
  nonisolated(nonsending) func intercept<Result>(
    _ call: TracedCall, _ operation: nonisolated(nonsending) () async throws -> Result
  ) async rethrows -> Result

  /// Runs a transition; the default implementation only calls the operation.
  ///
  /// Calls that the transition decided on may begin when it has ended. ``TracedCall/transition`` is its number then, too.
  ///
  /// - Parameters:
  ///   - transition: the transition.
  ///   - operation: performs it.
  /// - Returns: the result of the operation.
  nonisolated(nonsending) func intercept<Result>(
    _ transition: TracedTransition, _ operation: nonisolated(nonsending) () async -> Result
  ) async -> Result
}

extension CallInterceptor {
  /// Only performs the transition.
  ///
  /// - Parameters:
  ///   - transition: the transition.
  ///   - operation: performs it.
  /// - Returns: the result of the operation.
  public nonisolated(nonsending) func intercept<Result>(
    _ transition: TracedTransition, _ operation: nonisolated(nonsending) () async -> Result
  ) async -> Result { await operation() }
}

/// A transition that begins, for an interceptor.
public struct TracedTransition: Sendable, Hashable, Identifiable {
  /// The number of the transition among those of the application, from 1.
  public let id: UInt64
  /// The cause of the transition, such as `launch` or `SIGTERM`.
  public let cause: LifecycleCause
}
