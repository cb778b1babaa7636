/// What is wrong with a managed resource or its use.
public enum ResourceError: Error, Sendable, Hashable, CustomStringConvertible {
  /// A resource of this name is managed already.
  case duplicateName(String)
  /// A resource names a dependency that is not managed.
  case unknownDependency(String, of: String)
  /// A resource depends on one that another application manages.
  case foreignDependency(String, of: String)
  /// Resources depend on each other in a circle; the names go round it, from a resource to itself.
  ///
  /// As a resource is registered after those that it depends on, only one that names itself can close a circle.
  case dependencyCycle([String])
  /// The resource has not been acquired yet.
  case notHeld(String)
  /// The resource has been released, or is about to be, and has not been acquired again.
  case released(String)
  /// The resource cannot be unmanaged, as these others depend on it.
  case neededBy([String], String)
  /// The resource's run loop returned although it was not asked to.
  case runLoopReturned(String)
  /// The resource's health check has not returned within the interval between two checks.
  case checkTimedOut(String, after: Duration)

  /// The same as a sentence.
  public var description: String {
    switch self {
    case .duplicateName(let name): "a resource named “\(name)” is managed already"
    case .unknownDependency(let dependency, let name): "“\(name)” depends on “\(dependency)”, which is not managed"
    case .foreignDependency(let dependency, let name):
      "“\(name)” depends on “\(dependency)”, which another application manages"
    case .dependencyCycle(let names): names.map { "“\($0)”" }.joined(separator: " depends on ")
    case .notHeld(let name): "“\(name)” has not been acquired yet"
    case .released(let name): "“\(name)” has been released"
    case .neededBy(let dependents, let name):
      "“\(name)” is needed by \(dependents.map { "“\($0)”" }.joined(separator: ", "))"
    case .runLoopReturned(let name): "the run loop of “\(name)” returned"
    case .checkTimedOut(let name, let interval):
      "the health check of “\(name)” did not return within \(interval.inSeconds)"
    }
  }
}
