/// Code of the poster that runs around an asynchronous handler, in the task of the handler.
package protocol HandlerWrapper: Sendable {
  /// Calls the handler once, and throws the error that it throws.
  func callHandler(_ handler: () async throws -> Void) async throws
}
