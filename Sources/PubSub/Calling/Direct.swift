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
    /// Posts an event to a topic that has this root and no flag.
    ///
    /// `withUnsafePointer` would cost two calls and a guard of the stack, as much as the rest of a post to one handler.
    @inline(__always)
    static func deliver<E: EventBus.Event>(
      _ event: E, to topic: UnsafeMutablePointer<pubsub_topic>, from subject: UnsafeRawPointer?,
      _ root: UnsafeRawPointer
    ) { postEvent(event, topic, subject, root) }
  }

  @_silgen_name("pubsub_post_event")
  private func postEvent<Event>(
    _ event: borrowing Event, _ topic: UnsafeMutablePointer<pubsub_topic>, _ subject: UnsafeRawPointer?,
    _ root: UnsafeRawPointer)

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

  /// The two words of a closure: its function, and its context, which is nil if the closure captures nothing.
  fileprivate typealias Words = (function: UnsafeRawPointer, context: UnsafeMutableRawPointer?)

  private func retained(_ words: Words) -> Words {
    if let context = words.context { _ = Unmanaged<AnyObject>.fromOpaque(context).retain() }
    return words
  }

  extension pubsub_handler {
    private init(_ words: Words) { self.init(function: words.function, context: words.context) }

    /// Makes a handler of a closure and retains the closure's context; the code that removes the handler releases it.
    static func of<Value>(_ body: @escaping @Sendable (Value) throws -> Void) -> pubsub_handler {
      // The closure must live until its context is retained. The struct and not the closure is kept alive: a closure that is
      // passed to a generic function is wrapped in a new one.
      let shape = ClosureShape(body: body)
      defer { _fixLifetime(shape) }
      return .init(retained(unsafeBitCast(shape, to: Words.self)))
    }

    /// Makes a handler of a main-actor closure; posts call it on the main actor only.
    static func of<Value>(onMainActor body: @escaping @MainActor (Value) throws -> Void) -> pubsub_handler {
      let shape = MainActorClosureShape(body: body)
      defer { _fixLifetime(shape) }
      return .init(retained(unsafeBitCast(shape, to: Words.self)))
    }
  }

  // MARK: Owners

  /// A weak reference to an object whose memory stays allocated while the reference is kept.
  ///
  /// It is an unowned count: a Swift `weak` reference would move the object's counts to a side table for good, which
  /// would slow down the program's own retains and releases of the object.
  struct ObjectReference: @unchecked Sendable {
    fileprivate let pointer: UnsafeMutableRawPointer?

    init(_ object: any AnyObject & Sendable) {
      pointer = swift_unownedRetain(Unmanaged.passUnretained(object as AnyObject).toOpaque())
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

  /// The owner of a subscription and its handler, in the layout that C reads.
  struct OwnedCall: @unchecked Sendable {
    private var words = pubsub_owned()

    /// Makes the value for a subscription without an owner.
    init() {}

    init(_ owner: any AnyObject & Sendable) { words.owner = ObjectReference(owner).pointer }

    fileprivate init(_ owner: any AnyObject & Sendable, _ closure: Words) {
      self.init(owner)
      (words.function, words.context) = (closure.function, closure.context)
    }

    /// Returns the context of the closure, which must be released when the handler is removed.
    func captured(by handler: pubsub_handler) -> UnsafeMutableRawPointer? {
      handler.function == pubsub_owned_call() ? words.context : handler.context
    }

    /// The owner; nil if the subscription has none, or if the owner has been released.
    var owner: (any AnyObject & Sendable)? { reference?.object }
    var hasOwner: Bool { words.owner != nil }

    private var reference: ObjectReference? { words.owner.map { ObjectReference(pointer: $0) } }

    /// Releases the unowned reference to the owner; the value must not be used afterward.
    func end() { reference?.end() }
  }

  extension Registration {
    /// Makes a registration for an owner, and its handler.
    static func makeOwned<Owner: AnyObject & Sendable, E: EventBus.Event>(
      _ details: SubscriptionDetails, in core: BusCore, by owner: Owner,
      _ body: @escaping @Sendable (Owner, E) throws -> Void
    ) -> (Registration, pubsub_handler) {
      let shape = OwnedShape(body: body)
      defer { _fixLifetime(shape) }
      return makeOwned(details, in: core, by: owner, unsafeBitCast(shape, to: Words.self))
    }

    /// Makes a registration for an owner, and its main-actor handler.
    static func makeOwned<Owner: AnyObject & Sendable, E: EventBus.Event>(
      _ details: SubscriptionDetails, in core: BusCore, by owner: Owner,
      onMainActor body: @escaping @MainActor (Owner, E) throws -> Void
    ) -> (Registration, pubsub_handler) {
      let shape = MainActorOwnedShape(body: body)
      defer { _fixLifetime(shape) }
      return makeOwned(details, in: core, by: owner, unsafeBitCast(shape, to: Words.self))
    }

    private static func makeOwned(
      _ details: SubscriptionDetails, in core: BusCore, by owner: any AnyObject & Sendable, _ closure: Words
    ) -> (Registration, pubsub_handler) {
      let registration = Registration(details, core: core, owned: OwnedCall(owner, retained(closure)))
      // The handler's context is the registration, unretained: the entry in the store keeps the registration alive.
      let context = UnsafeMutableRawPointer(Unmanaged.passUnretained(registration).toOpaque())
      return (registration, pubsub_handler(function: pubsub_owned_call(), context: context))
    }
  }

  extension ObjectReference {
    fileprivate init(pointer: UnsafeMutableRawPointer) { self.pointer = pointer }
  }
#endif
