internal import CPubSub

// A closure stored in a field of a generic struct has one fixed shape, whatever the generic type: a function that takes the
// value by address, and a context. Read as two words it can be called from C without counting a reference. That shape is
// the compiler's business, so it is checked once when the program starts; where it is another, a box is called instead.

/// One field, of a type that the compiler must treat as the most general.
private struct ClosureShape<Value> {
  let body: @Sendable (Value) -> Void
}

/// The same for a closure of the main actor, which differs in its type only.
private struct MainActorClosureShape<Value> {
  let body: @MainActor (Value) -> Void
}

extension pubsub_handler {
  /// A closure as two words; its context is retained, and released by the code that removes the handler.
  static func of<Value>(_ body: @escaping @Sendable (Value) -> Void) -> pubsub_handler {
    guard ClosureShapeCheck.isAsExpected else { return boxed(body) }
    return retained(unsafeBitCast(ClosureShape(body: body), to: Words.self))
  }

  /// A closure of the main actor as two words; it is called on the main actor only.
  static func of<Value>(onMainActor body: @escaping @MainActor (Value) -> Void) -> pubsub_handler {
    guard ClosureShapeCheck.isAsExpected else {
      return boxed { (value: Value) in
        // The value does not leave the main actor: the caller and the closure are both on it.
        nonisolated(unsafe) let value = value
        MainActor.assumeIsolated { body(value) }
      }
    }
    return retained(unsafeBitCast(MainActorClosureShape(body: body), to: Words.self))
  }

  /// A closure in a box, called through a function of C's: what is done where closures have another shape.
  static func boxed<Value>(_ body: @escaping @Sendable (Value) -> Void) -> pubsub_handler {
    pubsub_set_box_caller { context, event in
      Unmanaged<HandlerBox>.fromOpaque(context)._withUnsafeGuaranteedRef { $0.call(event) }
    }
    let box = TypedHandlerBox(body)
    return pubsub_handler(function: pubsub_boxed(), context: Unmanaged<HandlerBox>.passRetained(box).toOpaque())
  }

  fileprivate typealias Words = (function: UnsafeRawPointer, context: UnsafeMutableRawPointer?)

  fileprivate static func retained(_ words: Words) -> pubsub_handler {
    if let context = words.context { _ = Unmanaged<AnyObject>.fromOpaque(context).retain() }
    return pubsub_handler(function: words.function, context: words.context)
  }
}

/// Whether closures have the shape that the fast path relies on.
enum ClosureShapeCheck {
  static let isAsExpected: Bool =
    MemoryLayout<ClosureShape<Int>>.size == 2 * MemoryLayout<UInt>.size && passes(42)
    && passes("a text that is too long to stand in a word or two") && passes([1.5, 2.5, 3.5])
    && passes(Large()) && passes(Int?.none)

  private struct Large: Equatable {
    var numbers: [UInt64] = [1, 2, 3]
    var text = "text"
    var more: (UInt64, UInt64, UInt64) = (4, 5, 6)
    static func == (one: Large, other: Large) -> Bool {
      one.numbers == other.numbers && one.text == other.text && one.more == other.more
    }
  }

  private final class Flag: Sendable {
    private let state = Guarded(false)
    var isSet: Bool { state.withLock { $0 } }
    func set() { state.withLock { $0 = true } }
  }

  /// Calls a closure as two words, and looks whether it received what was sent.
  private static func passes<Value: Equatable & Sendable>(_ value: Value) -> Bool {
    let flag = Flag()
    let shape = ClosureShape<Value> { if $0 == value { flag.set() } }
    let handler = pubsub_handler.retained(unsafeBitCast(shape, to: pubsub_handler.Words.self))
    guard let context = handler.context else { return false }
    withUnsafePointer(to: value) { pubsub_call(handler.function, context, $0) }
    Unmanaged<AnyObject>.fromOpaque(context).release()
    return flag.isSet
  }
}

/// A closure in an object, to be called by the object's address.
class HandlerBox {
  func call(_ event: UnsafeRawPointer) { preconditionFailure("a box of no type") }
}

private final class TypedHandlerBox<Value>: HandlerBox {
  private let body: (Value) -> Void
  init(_ body: @escaping (Value) -> Void) { self.body = body }
  override func call(_ event: UnsafeRawPointer) { body(event.assumingMemoryBound(to: Value.self).pointee) }
}
