/// What follows when a run loop or a body ends although it was not asked to.
///
/// An error that is a `CancellationError` counts as a return.
public enum RunEnd: Sendable, Hashable {
  /// Nothing: the loop begins again when its resource is acquired anew, a body when its phase opens anew.
  case rest
  /// The loop begins again, after the wait of the resource's ``RetryPolicy``; the resource stays held.
  ///
  /// A loop that ran for ``RetryPolicy/resetAfter`` or longer begins a new row of failures. After
  /// ``RetryPolicy/maximumRetries`` the resource is given up.
  case again
  /// The resource is invalidated, as by ``ManagedResource/invalidate(because:)``.
  case invalidate
  /// The application ends in order, and its host returns this exit status; see ``Application/shutDown(status:cause:)``.
  case shutDown(status: Int32)
}
