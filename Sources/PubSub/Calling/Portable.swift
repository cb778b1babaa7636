#if !(PUBSUB_DIRECT || (!PUBSUB_PORTABLE && compiler(>=6.3) && compiler(<6.4) && os(Linux) && arch(x86_64)))
  internal import CPubSub
  internal import Scheduling

  // The portable build; see Direct.swift.

  /// How handlers are called in this build.
  enum Calling {
    static var isDirect: Bool { false }

    static func error(taking thrown: UnsafeMutableRawPointer) -> any Error {
      Unmanaged<BoxedError>.fromOpaque(thrown).takeRetainedValue().error
    }
  }

  // MARK: Events

  extension Posting {
    @inline(__always)
    static func deliver<E: EventBus.Event>(
      _ event: E, to topic: UnsafeMutablePointer<pubsub_topic>, from subject: UnsafeRawPointer?,
      _ root: UnsafeRawPointer
    ) { withUnsafePointer(to: event) { pubsub_post($0, topic, subject) } }
  }

  // MARK: Closures

  private final class ClosureBox<Value>: HandlerBox {
    private let body: @Sendable (Value) throws -> Void
    init(_ body: @escaping @Sendable (Value) throws -> Void) { self.body = body }
    override func call(_ event: UnsafeRawPointer) throws {
      try body(event.assumingMemoryBound(to: Value.self).pointee)
    }
  }

  extension pubsub_handler {
    /// Makes a handler of a closure; the code that removes the handler releases its box.
    static func of<Value>(_ body: @escaping @Sendable (Value) throws -> Void) -> pubsub_handler {
      .init(function: pubsub_boxed(), context: Unmanaged.passRetained(ClosureBox(body)).toOpaque())
    }

    /// Makes a handler of a main-actor closure; posts call it on the main actor only.
    static func of<Value: Sendable>(onMainActor body: @escaping @MainActor (Value) throws -> Void) -> pubsub_handler {
      .of { value in try MainActor.assumeIsolated { try body(value) } }
    }
  }

  // MARK: Owners

  typealias ObjectReference = WeakReference

  extension WeakReference {
    /// Does nothing: in the direct build this releases an unowned reference.
    func end() {}
  }

  extension Registration {
    static func makeOwned<Owner: AnyObject & Sendable, E: EventBus.Event>(
      _ details: SubscriptionDetails, in core: BusCore, _ body: @escaping @Sendable (Owner, E) throws -> Void
    ) -> (Registration, pubsub_handler) {
      let registration = Registration(details, core: core)
      // The registration lives as long as a store holds the box.
      let handler = pubsub_handler.of { [unowned(unsafe) registration] (event: E) in
        guard let owner = registration.owner else { return registration.ownerIsGone() }
        try body(unsafeDowncast(owner, to: Owner.self), event)
      }
      return (registration, handler)
    }

    static func makeOwned<Owner: AnyObject & Sendable, E: EventBus.Event>(
      _ details: SubscriptionDetails, in core: BusCore, onMainActor body: @escaping @MainActor (Owner, E) throws -> Void
    ) -> (Registration, pubsub_handler) {
      makeOwned(details, in: core) { owner, event in try MainActor.assumeIsolated { try body(owner, event) } }
    }
  }
#endif
