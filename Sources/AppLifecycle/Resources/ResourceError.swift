/// An error in the declaration, the use or the work of a managed resource.
public enum ResourceError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The application already manages a resource with this name.
  case duplicateName(String)
  /// A resource names a dependency that the application does not manage.
  case unknownDependency(String, of: String)
  /// A resource names a dependency that another application manages.
  case foreignDependency(String, of: String)
  /// The resource has not been acquired yet.
  case notHeld(String)
  /// The resource has been released or is being released, and has not been acquired again.
  case released(String)
  /// The application no longer manages the resource, so it will not be held again.
  case unmanaged(String)
  /// The resource failed more often than its ``RetryPolicy/maximumRetries`` allows, and is not tried again by itself; the
  /// text is its latest error.
  ///
  /// A wait for a resource that depends on it ends with the same error.
  case givenUp(String, because: String)
  /// The application cannot stop managing the resource, because these resources or bodies depend on it.
  case neededBy([String], String)
  /// The resource's run loop returned although it was not asked to end.
  case runLoopReturned(String)
  /// The resource's health check has not returned within the interval between two checks.
  case checkTimedOut(String, after: Duration)
  /// The run loop or the body has not declared within this time that it is ready.
  case notReady(String, after: Duration)

  /// The error as a sentence.
  public var description: String {
    switch self {
    case .duplicateName(let name): "a resource named “\(name)” is managed already"
    case .unknownDependency(let dependency, let name): "“\(name)” depends on “\(dependency)”, which is not managed"
    case .foreignDependency(let dependency, let name):
      "“\(name)” depends on “\(dependency)”, which another application manages"
    case .notHeld(let name): "“\(name)” has not been acquired yet"
    case .released(let name): "“\(name)” has been released"
    case .unmanaged(let name): "“\(name)” is no longer managed"
    case .givenUp(let name, let error): "“\(name)” was given up: \(error)"
    case .neededBy(let dependents, let name):
      "“\(name)” is needed by \(dependents.map { "“\($0)”" }.joined(separator: ", "))"
    case .runLoopReturned(let name): "the run loop of “\(name)” returned"
    case .checkTimedOut(let name, let interval):
      "the health check of “\(name)” did not return within \(interval.inSeconds)"
    case .notReady(let name, let limit): "“\(name)” was not ready within \(limit.inSeconds)"
    }
  }
}
