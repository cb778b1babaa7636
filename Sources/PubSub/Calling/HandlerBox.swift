/// A closure in an object, which a function of C's calls by the object's address: what handlers are where C cannot call closures.
class HandlerBox {
  func call(_ event: UnsafeRawPointer) throws { preconditionFailure("a box of no type") }

  /// Calls the closure; returns what it threw, in an object that is the caller's to release.
  final func thrown(by event: UnsafeRawPointer) -> UnsafeMutableRawPointer? {
    do {
      try call(event)
      return nil
    } catch {
      return Unmanaged.passRetained(BoxedError(error)).toOpaque()
    }
  }
}

/// An error in an object.
final class BoxedError {
  let error: any Error
  init(_ error: any Error) { self.error = error }
}
