/// The reaction when a run loop or a body ends although it was not asked to.
///
/// An error that is a `CancellationError` counts as a return.
public enum RunEnd: Sendable, Hashable {
  /// Nothing follows at once.
  ///
  /// A loop begins again when its resource is acquired again. A body begins again when its phase opens again, or when
  /// one of its dependencies has been acquired again.
  case rest
  /// The loop or body begins again, after the delay of its ``RetryPolicy``; a resource stays held.
  ///
  /// If the loop ran for ``RetryPolicy/resetAfter`` or longer, the count of failures starts again. After
  /// ``RetryPolicy/maximumRetries`` the resource is invalidated, and gets the status
  /// ``ResourceStatus/failed(failures:)``.
  case again
  /// The resource of the loop is invalidated, as by ``ManagedResource/invalidate(because:)``.
  ///
  /// For a body this is ``again``; the resources on which it depends stay held.
  case invalidate
  /// The application ends in order, and its host returns this exit status; see ``Application/shutDown(status:cause:)``.
  case shutDown(status: Int32)
}
