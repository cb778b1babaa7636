internal import Synchronization

extension EventBus {
  /// A subscription on an ``EventBus``; it lasts while this object is kept, and releasing this object cancels it.
  ///
  /// Any thread may cancel, any number of times, even after the bus has been released. A subscription for an owner
  /// (`for: owner`) is an ``EventBus/OwnedSubscription``.
  public final class Subscription: Sendable {
    // *Plain* is defined at `HandlerBlock.Entry`.
    // In the order in which cancelling reads them, so that it reads one cache line where it can.

    /// The identifier of a plain subscription, plus the bit ``cancelled`` once it is cancelled; ``registered`` for a
    /// subscription with a registration.
    private let id: Atomic<UInt64>
    /// The store of a plain subscription; for any other subscription its registration.
    ///
    /// The subscription retains the store's core, or the registration.
    private nonisolated(unsafe) let object: UnsafeRawPointer
    /// The source position of a plain subscription, which the core keeps alive; nil for a subscription with a
    /// registration.
    let site: Unmanaged<Site>?

    /// In the place of an identifier, which the registration has.
    ///
    /// It has the bit ``cancelled``, too: compare with it before you look at the bit.
    private static var registered: UInt64 { .max }
    /// The bit that is added to the identifier of a cancelled plain subscription.
    private static var cancelled: UInt64 { 1 << 63 }

    /// A plain subscription.
    init(_ id: UInt64, at site: Unmanaged<Site>, in store: HandlerStore) {
      object = UnsafeRawPointer(Unmanaged.passUnretained(store).toOpaque())
      self.site = site
      self.id = Atomic(id)
      _ = Unmanaged.passRetained(store.core)
    }

    init(_ registration: Registration) {
      object = UnsafeRawPointer(Unmanaged.passRetained(registration).toOpaque())
      site = nil
      id = Atomic(Self.registered)
    }

    deinit {
      cancel()
      switch target {
      case .plain(let store): store._withUnsafeGuaranteedRef { $0.unownedCore }.release()
      case .registered(let registration): registration.release()
      }
    }

    /// The target, by its kind; it lives as long as the subscription, so no reference is counted.
    private enum Target {
      case plain(Unmanaged<HandlerStore>)
      case registered(Unmanaged<Registration>)
    }

    private var target: Target {
      id.load(ordering: .relaxed) == Self.registered ? .registered(.fromOpaque(object)) : .plain(.fromOpaque(object))
    }

    /// The subscriber: its label and its source position.
    public var subscriber: EventBus.Subscriber {
      switch target {
      case .plain: site.unsafelyUnwrapped._withUnsafeGuaranteedRef { $0.subscriber }
      case .registered(let registration): registration._withUnsafeGuaranteedRef { $0.subscriber }
      }
    }

    /// Whether the subscription was cancelled, has had its one event (`once: true`), or has lost its bus or its
    /// subject.
    ///
    /// A call of the handler that began earlier on another thread may still be running.
    ///
    /// - Complexity: constant; for a synchronous handler of one type without owner, subject, label and `once`, logarithmic in
    ///   the number of subscriptions to the event, and takes the bus's lock.
    public var isCancelled: Bool {
      switch target {
      case .plain(let store):
        let id = id.load(ordering: .acquiring)
        if id & Self.cancelled != 0 { return true }
        return store._withUnsafeGuaranteedRef { store in store.core.withLock { _ in store.list.index(of: id) == nil } }
      case .registered(let registration): return registration._withUnsafeGuaranteedRef { $0.hasEnded }
      }
    }

    /// Ends the subscription.
    ///
    /// After the call, no new post reaches the handler, and neither does the rest of a post under way on this thread. A
    /// call of the handler that began earlier on another thread may still be running, and is not cancelled. A handler
    /// that runs on an actor does not begin after code on that actor has cancelled its subscription. Events that wait
    /// in the mailbox are dropped. A handler may cancel its own subscription.
    ///
    /// What the handler captured is released by this call or, if the handler runs, at the end of that run.
    ///
    /// - Complexity: logarithmic in the number of subscriptions to the event, on average and whatever the order of
    ///   cancelling. Cancelling a subscription to every event, or to the events of one name, is linear in the number of event
    ///   types.
    public func cancel() {
      switch target {
      case .plain(let store):
        let id = id.load(ordering: .acquiring)
        if id & Self.cancelled != 0 { return }
        store._withUnsafeGuaranteedRef { store in
          store.unownedCore._withUnsafeGuaranteedRef { $0.remove(id, from: store) }
        }
        // Must be last: a thread that reads the bit relies on the handler having been removed.
        self.id.store(id | Self.cancelled, ordering: .releasing)
      case .registered(let registration): registration._withUnsafeGuaranteedRef { $0.cancel() }
      }
    }

    /// Ends the subscription, and returns when its handler no longer runs.
    ///
    /// Inside a run of the handler, or in a task that the present run of an asynchronous handler has started, the call does not wait;
    /// nor does it wait for a handler whose `postAndWait` waits for the calling run, or for a later event of its handler. A task that
    /// outlives its run waits like any other.
    ///
    /// Inside another handler the call waits for 30 seconds at most. If two handlers drain each other, the second call
    /// returns at once. In both cases the bus posts an ``EventBus/HandlerFailure`` with a ``DrainTimeout``, which names
    /// the handler that was still running. Cancelling the waiting task does not end the wait.
    public func cancelAndDrain() async {
      cancel()
      switch target {
      case .plain(let store): await store.takeUnretainedValue().core.untilIdle(subscriber, whenIdle)
      case .registered(let registration): await registration.takeUnretainedValue().drain()
      }
    }

    /// Stores the subscription in a set, whose release releases the subscription.
    public func store(in subscriptions: inout Set<EventBus.Subscription>) { subscriptions.insert(self) }

    /// Appends the subscription to a collection, such as an array, whose release releases the subscription.
    public func store<Subscriptions: RangeReplaceableCollection<EventBus.Subscription>>(
      in subscriptions: inout Subscriptions
    ) {
      subscriptions.append(self)
    }
  }
}

extension EventBus.Subscription {
  /// Calls the action when no handler of the cancelled subscription runs; immediately if none runs now.
  func whenIdle(_ action: @escaping @Sendable () -> Void) {
    switch target {
    case .plain(let store):
      let store = store.takeUnretainedValue()
      store.core.whenIdle(id.load(ordering: .acquiring) & ~Self.cancelled, in: store, from: nil, action)
    case .registered(let registration): registration.takeUnretainedValue().whenIdle(action)
    }
  }
}

extension EventBus.Subscription: Hashable {
  /// Whether both are the same subscription object.
  public static func == (one: EventBus.Subscription, other: EventBus.Subscription) -> Bool { one === other }

  /// Hashes the identity of the subscription object.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// The error of a handler that stopped waiting for another handler: the time-out passed, or each waited for the other.
public struct DrainTimeout: Error, Hashable, CustomStringConvertible {
  /// The subscriber whose handler was still running.
  public let subscriber: EventBus.Subscriber

  /// Makes the error, for a test of code that handles failures.
  public init(subscriber: EventBus.Subscriber) { self.subscriber = subscriber }

  /// The error as a sentence.
  public var description: String { "gave up waiting for the handler of \(subscriber)" }
}
