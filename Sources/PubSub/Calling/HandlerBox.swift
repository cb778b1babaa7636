/// A closure in an object, which C calls by its address: a handler in the portable build, where C cannot call closures.
class HandlerBox {
  func call(_ event: UnsafeRawPointer) throws { preconditionFailure("a subclass must override this method") }

  /// Calls the closure; returns the thrown error in an object that the caller must release, or nil.
  final func thrown(by event: UnsafeRawPointer) -> UnsafeMutableRawPointer? {
    do {
      try call(event)
      return nil
    } catch {
      return Unmanaged.passRetained(BoxedError(error)).toOpaque()
    }
  }
}

/// An object that holds an error, so that C can pass the error on as a pointer.
final class BoxedError {
  let error: any Error
  init(_ error: any Error) { self.error = error }
}
