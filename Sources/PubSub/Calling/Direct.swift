#if PUBSUB_DIRECT || (!PUBSUB_PORTABLE && compiler(>=6.3) && compiler(<6.4) && os(Linux) && arch(x86_64))
  internal import CPubSub

  // The direct build: C calls the closures of handlers as they are, and takes events where a generic function has them.
  //
  // A closure that is stored in a field of a generic struct has one fixed shape, whatever the generic type: a function that takes
  // the value by address, and a context. Read as two words it is called without counting a reference. That shape and the
  // convention of generic functions are the compiler's business. So this file is compiled only for the compilers and processors
  // in the condition above, and each was admitted by CallingTests; everything else builds Portable.swift. To try another one, add
  // `-Xswiftc -DPUBSUB_DIRECT` and run these tests.

  /// How handlers are called in this build.
  enum Calling {
    static let isDirect = true

    /// What a handler threw: an error, as the convention returns it.
    static func error(taking thrown: UnsafeMutableRawPointer) -> any Error {
      withUnsafePointer(to: thrown) { word in
        UnsafeMutableRawPointer(mutating: word).assumingMemoryBound(to: (any Error).self).move()
      }
    }
  }

  // MARK: Events

  extension Posting {
    /// Posts an event to a topic without flags that has this root.
    ///
    /// Going through `withUnsafePointer` would cost two more calls and a guard of the stack, as much as the rest of a post to one
    /// handler.
    @inline(__always)
    static func deliver<E: BusEvent>(
      _ event: E, to topic: UnsafeMutablePointer<pubsub_topic>, from subject: UnsafeRawPointer?,
      _ root: UnsafeRawPointer
    ) { postEvent(event, topic, subject, root) }
  }

  @_silgen_name("pubsub_post_event")
  private func postEvent<Event>(
    _ event: borrowing Event, _ topic: UnsafeMutablePointer<pubsub_topic>, _ subject: UnsafeRawPointer?,
    _ root: UnsafeRawPointer)

  // MARK: Closures

  /// One field, of a type that the compiler must treat as the most general.
  private struct ClosureShape<Value> {
    let body: @Sendable (Value) throws -> Void
  }

  /// The same for a closure of the main actor, which differs in its type only.
  private struct MainActorClosureShape<Value> {
    let body: @MainActor (Value) throws -> Void
  }

  /// The same for closures that take an owner, too.
  private struct OwnedShape<Owner: AnyObject, Value> {
    let body: @Sendable (Owner, Value) throws -> Void
  }

  private struct MainActorOwnedShape<Owner: AnyObject, Value> {
    let body: @MainActor (Owner, Value) throws -> Void
  }

  /// A closure: its function, and its context, which is nil if it captures nothing.
  fileprivate typealias Words = (function: UnsafeRawPointer, context: UnsafeMutableRawPointer?)

  private func retained(_ words: Words) -> Words {
    if let context = words.context { _ = Unmanaged<AnyObject>.fromOpaque(context).retain() }
    return words
  }

  extension pubsub_handler {
    private init(_ words: Words) { self.init(function: words.function, context: words.context) }

    /// A closure as a handler; its context is retained, and released by the code that removes the handler.
    static func of<Value>(_ body: @escaping @Sendable (Value) throws -> Void) -> pubsub_handler {
      let shape = ClosureShape(body: body)
      // Until the context is retained, the closure must live.
      defer { _fixLifetime(shape) }
      return .init(retained(unsafeBitCast(shape, to: Words.self)))
    }

    /// A closure of the main actor as a handler; it is called on the main actor only.
    static func of<Value>(onMainActor body: @escaping @MainActor (Value) throws -> Void) -> pubsub_handler {
      let shape = MainActorClosureShape(body: body)
      defer { _fixLifetime(shape) }
      return .init(retained(unsafeBitCast(shape, to: Words.self)))
    }
  }

  // MARK: Owners

  /// An object that may be gone; its memory stays while the reference is kept.
  ///
  /// An unowned count keeps the memory: a weak reference would move the object's counts to a table of their own, for good, and so slow
  /// the counting of the program's own references.
  struct ObjectReference: @unchecked Sendable {
    fileprivate let pointer: UnsafeMutableRawPointer?

    init(_ object: any AnyObject & Sendable) {
      pointer = swift_unownedRetain(Unmanaged.passUnretained(object as AnyObject).toOpaque())
    }

    var object: (any AnyObject & Sendable)? {
      guard let pointer = swift_tryRetain(pointer) else { return nil }
      // Given as sendable.
      return unsafeBitCast(
        Unmanaged<AnyObject>.fromOpaque(pointer).takeRetainedValue(), to: (any AnyObject & Sendable).self)
    }

    /// Lets go of the memory; the reference is not used any more.
    func end() { swift_unownedRelease(pointer) }
  }

  /// The handler of a subscription with an owner, and the owner, as C reads them: the first stored property of a registration.
  struct OwnedCall: @unchecked Sendable {
    private var words = pubsub_owned()

    /// That of a subscription without an owner.
    init() {}

    init(_ owner: any AnyObject & Sendable) { words.owner = ObjectReference(owner).pointer }

    fileprivate init(_ owner: any AnyObject & Sendable, _ closure: Words) {
      self.init(owner)
      (words.function, words.context) = (closure.function, closure.context)
    }

    /// What is released with a handler: what the closure captured.
    func captured(by handler: pubsub_handler) -> UnsafeMutableRawPointer? {
      handler.function == pubsub_owned_call() ? words.context : handler.context
    }

    /// The owner; nil if there was none, or if it is gone.
    var owner: (any AnyObject & Sendable)? { reference?.object }
    var hasOwner: Bool { words.owner != nil }

    private var reference: ObjectReference? { words.owner.map { ObjectReference(pointer: $0) } }

    /// Lets go of the owner's memory.
    func end() { reference?.end() }
  }

  extension Registration {
    /// A registration for an owner, and its handler.
    static func owned<Owner: AnyObject & Sendable, E: BusEvent>(
      _ details: SubscriptionDetails, in core: BusCore, by owner: Owner,
      _ body: @escaping @Sendable (Owner, E) throws -> Void
    ) -> (Registration, pubsub_handler) {
      let shape = OwnedShape(body: body)
      defer { _fixLifetime(shape) }
      return owned(details, in: core, by: owner, unsafeBitCast(shape, to: Words.self))
    }

    /// The same for a handler on the main actor.
    static func owned<Owner: AnyObject & Sendable, E: BusEvent>(
      _ details: SubscriptionDetails, in core: BusCore, by owner: Owner,
      onMainActor body: @escaping @MainActor (Owner, E) throws -> Void
    ) -> (Registration, pubsub_handler) {
      let shape = MainActorOwnedShape(body: body)
      defer { _fixLifetime(shape) }
      return owned(details, in: core, by: owner, unsafeBitCast(shape, to: Words.self))
    }

    private static func owned(
      _ details: SubscriptionDetails, in core: BusCore, by owner: any AnyObject & Sendable, _ closure: Words
    ) -> (Registration, pubsub_handler) {
      let registration = Registration(details, core: core, owned: OwnedCall(owner, retained(closure)))
      // The registration is the context; its place in a store keeps it.
      let context = UnsafeMutableRawPointer(Unmanaged.passUnretained(registration).toOpaque())
      return (registration, pubsub_handler(function: pubsub_owned_call(), context: context))
    }
  }

  extension ObjectReference {
    fileprivate init(pointer: UnsafeMutableRawPointer) { self.pointer = pointer }
  }
#endif
