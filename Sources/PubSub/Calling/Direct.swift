#if PUBSUB_DIRECT || (!PUBSUB_PORTABLE && compiler(>=6.3) && compiler(<6.4) && os(Linux) && arch(x86_64))
  internal import CPubSub

  // The direct build: C calls the closures of handlers without a wrapper, and reads events from where a generic
  // function holds them.
  //
  // A closure in a field of a generic struct has one fixed shape, whatever the generic type: a function that takes the
  // value by address, and a context. Code that reads these two words can call the closure without counting a reference.
  // No document guarantees that shape or the calling convention of generic functions. So only the compilers and
  // processors in the condition above compile this file; CallingTests has passed on each of them. All others compile
  // Portable.swift. To try another compiler or processor, add `-Xswiftc -DPUBSUB_DIRECT` and run these tests.

  /// How handlers are called in this build.
  enum Calling {
    static var isDirect: Bool { true }

    /// The error that a handler threw, from the word that the calling convention returns.
    static func error(taking thrown: UnsafeMutableRawPointer) -> any Error {
      withUnsafePointer(to: thrown) { word in
        UnsafeMutableRawPointer(mutating: word).assumingMemoryBound(to: (any Error).self).move()
      }
    }
  }

  // MARK: Events

  extension Posting {
    /// Posts an event to a topic that has this root and no flag; C defines this generic function, which takes the event by address.
    ///
    /// `withUnsafePointer` would cost two calls and a guard of the stack, as much as the rest of a post to one handler.
    @_silgen_name("pubsub_post_event")
    static func deliver<Event>(
      _ event: borrowing Event, to topic: UnsafeMutablePointer<pubsub_topic>, from subject: UnsafeRawPointer?,
      _ root: UnsafeRawPointer)
  }

  // MARK: Closures

  /// A struct with one closure field, which the compiler stores in the most general shape, because `Value` is generic.
  private struct ClosureShape<Value> {
    let body: @Sendable (Value) throws -> Void
  }

  /// The same struct for a closure of the main actor; only the type of the field differs.
  private struct MainActorClosureShape<Value> {
    let body: @MainActor (Value) throws -> Void
  }

  /// The same struct for a closure that also takes an owner.
  private struct OwnedShape<Owner: AnyObject, Value> {
    let body: @Sendable (Owner, Value) throws -> Void
  }

  private struct MainActorOwnedShape<Owner: AnyObject, Value> {
    let body: @MainActor (Owner, Value) throws -> Void
  }

  extension pubsub_handler {
    /// Makes a handler of the closure in a shape, whose two words are the closure's function and its context, and retains the
    /// context, which is nil if the closure captures nothing; the code that removes the handler releases it.
    @inline(__always)
    fileprivate init<Shape>(retaining shape: Shape) {
      self = unsafeBitCast(shape, to: pubsub_handler.self)
      if let context { _ = Unmanaged<AnyObject>.fromOpaque(context).retain() }
      // The closure must live until its context is retained. The struct and not the closure is kept alive: a closure that is
      // passed to a generic function is wrapped in a new one.
      _fixLifetime(shape)
    }

    /// Makes a handler of a closure.
    static func of<Value>(_ body: @escaping @Sendable (Value) throws -> Void) -> pubsub_handler {
      .init(retaining: ClosureShape(body: body))
    }

    /// Makes a handler of a main-actor closure; posts call it on the main actor only.
    static func of<Value>(onMainActor body: @escaping @MainActor (Value) throws -> Void) -> pubsub_handler {
      .init(retaining: MainActorClosureShape(body: body))
    }
  }

  // MARK: Owners

  /// A weak reference to an object whose memory stays allocated while the reference is kept.
  ///
  /// It is an unowned count: a Swift `weak` reference would move the object's counts to a side table for good, which
  /// would slow down the program's own retains and releases of the object.
  struct ObjectReference: @unchecked Sendable {
    private let pointer: UnsafeMutableRawPointer

    init(_ object: any AnyObject & Sendable) {
      pointer = Unmanaged.passUnretained(object as AnyObject).toOpaque()
      swift_unownedRetain(pointer)
    }

    var object: (any AnyObject & Sendable)? {
      guard let pointer = swift_tryRetain(pointer) else { return nil }
      // The initializer took a `Sendable` object.
      return unsafeBitCast(
        Unmanaged<AnyObject>.fromOpaque(pointer).takeRetainedValue(), to: (any AnyObject & Sendable).self)
    }

    /// Releases the unowned reference; the value must not be used afterward.
    func end() { swift_unownedRelease(pointer) }
  }

  extension Registration {
    /// Makes a registration for an owner, and its handler.
    static func makeOwned<Owner: AnyObject & Sendable, E: EventBus.Event>(
      _ details: SubscriptionDetails, in core: BusCore, _ body: @escaping @Sendable (Owner, E) throws -> Void
    ) -> (Registration, pubsub_handler) { makeOwned(details, in: core, .init(retaining: OwnedShape(body: body))) }

    /// Makes a registration for an owner, and its main-actor handler.
    static func makeOwned<Owner: AnyObject & Sendable, E: EventBus.Event>(
      _ details: SubscriptionDetails, in core: BusCore, onMainActor body: @escaping @MainActor (Owner, E) throws -> Void
    ) -> (Registration, pubsub_handler) {
      makeOwned(details, in: core, .init(retaining: MainActorOwnedShape(body: body)))
    }

    private static func makeOwned(
      _ details: SubscriptionDetails, in core: BusCore, _ closure: pubsub_handler
    ) -> (Registration, pubsub_handler) {
      let registration = Registration(details, core: core, calling: closure)
      // The handler's context is the registration, unretained: the entry in the store keeps the registration alive.
      let context = UnsafeMutableRawPointer(Unmanaged.passUnretained(registration).toOpaque())
      return (registration, pubsub_handler(function: pubsub_owned_call(), context: context))
    }
  }
#endif
