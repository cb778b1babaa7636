/// What is wrong with a managed resource or its use.
public enum ResourceError: Error, Sendable, Hashable, CustomStringConvertible {
  /// A resource of this name is managed already.
  case duplicateName(String)
  /// A resource names a dependency that is not managed.
  case unknownDependency(String, of: String)
  /// A resource depends on one that another application manages.
  case foreignDependency(String, of: String)
  /// The resource is not held at the moment: not acquired yet, or released.
  case notHeld(String)

  /// The same as a sentence.
  public var description: String {
    switch self {
    case .duplicateName(let name): "a resource named “\(name)” is managed already"
    case .unknownDependency(let dependency, let name): "“\(name)” depends on “\(dependency)”, which is not managed"
    case .foreignDependency(let dependency, let name):
      "“\(name)” depends on “\(dependency)”, which another application manages"
    case .notHeld(let name): "“\(name)” is not held at the moment"
    }
  }
}
