internal import Synchronization

/// A subscription on an ``EventBus``, which lasts while this object is kept.
///
/// Releasing it cancels, unless it belongs to an owner (`subscribe(owner, to:)`): then the owner's life ends it, and the
/// subscription may be discarded. Any thread may cancel, any number of times, also after the bus is gone.
public final class Subscription: Sendable {
  /// Of a plain subscription the store, whose core is kept; of another one the registration.
  private nonisolated(unsafe) let target: UnsafeRawPointer
  /// Of a plain subscription where it was made; the core keeps it.
  private let site: Unmanaged<Site>?
  /// Of a plain subscription its identifier; zero once it is cancelled.
  private let id: Atomic<UInt64>

  /// A plain subscription.
  init(_ id: UInt64, at site: Unmanaged<Site>, in store: HandlerStore) {
    target = UnsafeRawPointer(Unmanaged.passUnretained(store).toOpaque())
    self.site = site
    self.id = Atomic(id)
    _ = Unmanaged.passRetained(store.core)
  }

  init(_ registration: Registration) {
    target = UnsafeRawPointer(Unmanaged.passRetained(registration).toOpaque())
    site = nil
    id = Atomic(0)
  }

  deinit {
    switch form {
    case .plain(let store):
      let core = store._withUnsafeGuaranteedRef { Unmanaged.passUnretained($0.core) }
      cancelPlain(store)
      core.release()
    case .registered(let registration):
      registration._withUnsafeGuaranteedRef { if !$0.endsWithOwner { $0.cancel() } }
      registration.release()
    }
  }

  /// What the target is; it lives as long as the subscription, so that no reference is counted.
  private enum Form {
    case plain(Unmanaged<HandlerStore>)
    case registered(Unmanaged<Registration>)
  }

  private var form: Form { site == nil ? .registered(.fromOpaque(target)) : .plain(.fromOpaque(target)) }

  private func cancelPlain(_ store: Unmanaged<HandlerStore>) {
    let id = id.load(ordering: .acquiring)
    if id == 0 { return }
    store._withUnsafeGuaranteedRef { store in
      store.unownedCore._withUnsafeGuaranteedRef { $0.remove(id, from: store) }
    }
    // Last: a thread that finds it cancelled may rely on that.
    self.id.store(0, ordering: .releasing)
  }

  /// The subscriber: its label and its place in the source.
  public var subscriber: Subscriber {
    switch form {
    case .plain: site.unsafelyUnwrapped._withUnsafeGuaranteedRef { $0.subscriber }
    case .registered(let registration): registration._withUnsafeGuaranteedRef { $0.subscriber }
    }
  }

  /// Whether the subscription has ended: it was cancelled, or its bus, its owner or its subject is gone.
  ///
  /// A handler that another thread had begun to call may still be running. Any thread may ask.
  ///
  /// - Complexity: logarithmic in the number of subscriptions to the event, and takes the bus's lock, where the subscription has a
  ///   handler that is synchronous and no owner, label or subject; else constant.
  public var isCancelled: Bool {
    switch form {
    case .plain(let store):
      let id = id.load(ordering: .acquiring)
      return id == 0 || store._withUnsafeGuaranteedRef { !$0.core.stands(id, in: $0) }
    case .registered(let registration): return registration._withUnsafeGuaranteedRef { $0.hasEnded }
    }
  }

  /// Ends the subscription.
  ///
  /// After the call, no new post reaches the handler, nor does the rest of a post under way on this thread. A delivery that
  /// another thread had begun may still be running, but a handler that runs on an actor does not begin once that actor has
  /// cancelled it; the handler that runs is not cancelled. What waits in a mailbox is dropped. Allowed inside a handler, the
  /// subscription's own included.
  ///
  /// What the handler captured is released as soon as no post can see it any more: by this thread, nearly always, else by the last
  /// of the posts on other threads that can, or by the next call that subscribes or cancels.
  ///
  /// - Complexity: constant on average, whatever the order of cancelling; linear in the number of event types where the
  ///   subscription is to every event, or to those of one name.
  public func cancel() {
    switch form {
    case .plain(let store): cancelPlain(store)
    case .registered(let registration): registration._withUnsafeGuaranteedRef { $0.cancel() }
    }
  }

  /// Ends the subscription and returns when no handler of it runs.
  ///
  /// Inside the subscription's own asynchronous handler (or a task started by it) it does not wait for that handler. Inside
  /// another handler it waits for 30 seconds at most, so that two that wait for each other end; then a ``HandlerFailure`` with a
  /// ``DrainTimeout`` names the handler that was waited for. Cancelling the waiting task does not end the wait.
  public func cancelAndDrain() async {
    cancel()
    await drain()
  }

  /// Keeps the subscription in a set.
  public func store(in subscriptions: inout Set<Subscription>) { subscriptions.insert(self) }

  /// Keeps the subscription in a collection that can grow, an array for one.
  public func store<Subscriptions: RangeReplaceableCollection<Subscription>>(in subscriptions: inout Subscriptions) {
    subscriptions.append(self)
  }
}

extension Subscription {
  /// What is known of a subscription that is not plain.
  var registration: Registration? {
    if case .registered(let registration) = form { registration.takeUnretainedValue() } else { nil }
  }

  /// The core of the bus, which stays when the bus is gone.
  var core: BusCore {
    switch form {
    case .plain(let store): store.takeUnretainedValue().core
    case .registered(let registration): registration.takeUnretainedValue().core
    }
  }

  /// Calls once no handler of the cancelled subscription runs; at once if that is so.
  func whenIdle(_ action: @escaping @Sendable () -> Void) {
    switch form {
    case .plain(let store): store.takeUnretainedValue().core.whenIdle(in: store.takeUnretainedValue(), action)
    case .registered(let registration): registration.takeUnretainedValue().whenIdle(action)
    }
  }
}

extension Subscription: Hashable {
  /// Whether both are the very same subscription.
  public static func == (one: Subscription, other: Subscription) -> Bool { one === other }

  /// Hashes the identity.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// Two handlers waited for each other, or one took too long: a wait for a handler's end, made inside another handler, was
/// given up.
public struct DrainTimeout: Error, Hashable, CustomStringConvertible {
  /// The subscriber whose handler was still running.
  public let subscriber: Subscriber

  /// The same as a sentence.
  public var description: String { "gave up waiting for the handler of \(subscriber)" }
}
