internal import CPubSub

// A generic function that is not specialised gets a value by its address. C takes the address as it comes: going through
// `withUnsafePointer` would cost two more calls and a guard of the stack, as much as the rest of a post to one handler.
// Where values come in another way, which is looked at when the program starts, that is what is done.

/// Posts an event to a topic without flags that has this root.
@_silgen_name("pubsub_post_event")
func postEvent<Event>(
  _ event: borrowing Event, _ topic: UnsafeMutablePointer<pubsub_topic>, _ subject: UnsafeRawPointer?,
  _ root: UnsafeRawPointer)

/// The address at which C receives a value.
@_silgen_name("pubsub_address_of")
private func addressOf<Value>(_ value: borrowing Value) -> UnsafeRawPointer

/// Whether C receives values where it expects them.
enum EventAddressCheck {
  static let isAsExpected: Bool =
    passes(42) && passes("a text that is too long to stand in a word or two") && passes([1.5, 2.5]) && passes(Int?.none)
    && passes(UInt8(7))

  @inline(never)
  private static func passes<Value: Equatable>(_ value: Value) -> Bool {
    addressOf(value).assumingMemoryBound(to: Value.self).pointee == value
  }
}
