/// The run of an asynchronous handler inside which a task runs; a wait in the task is a wait of that handler.
package struct HandlerContext: Sendable {
  private let run: HandlerRun

  /// The run inside which the present task runs and which has not ended.
  package static var enclosing: HandlerContext? { HandlerRun.enclosing.map(HandlerContext.init) }

  private init(_ run: HandlerRun) { self.run = run }

  /// Whether a post waits for this run, directly or along the chain of waits that led to it.
  package func isAwaited(by post: ObservedPost) -> Bool {
    var run = run
    while run.isUnderWay, let cause = run.cause, !cause.isOver {
      if cause === post.awaited { return true }
      guard let poster = cause.poster else { return false }
      run = poster
    }
    return false
  }

  /// Does something on behalf of a handler that waits for it; or of none, whatever the present task has inherited.
  @MainActor package static func with<Result>(
    _ context: HandlerContext?, _ body: @MainActor () async -> Result
  ) async -> Result {
    // Nothing to bind is nearly always the case.
    if context == nil, HandlerRun.current == nil { return await body() }
    return await HandlerRun.$current.withValue(context?.run) { await body() }
  }
}
