/// A closure in an object, which a function of C's calls by the object's address: what handlers are where C cannot call closures.
class HandlerBox {
  func call(_ event: UnsafeRawPointer) throws { preconditionFailure("a box of no type") }
}
