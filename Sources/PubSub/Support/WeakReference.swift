/// A weak reference that can be kept in a `let`.
final class WeakReference: Sendable {
  weak let object: (any AnyObject & Sendable)?
  init(_ object: any AnyObject & Sendable) { self.object = object }
}
