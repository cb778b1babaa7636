internal import CPubSub

// Posts that wait: their receivers, and the handler that they are calling.

extension BusCore {
  /// The receivers of a post that waits, in the order of delivery; a sticky event is kept in the same instant.
  func recipients<E: BusEvent>(of event: E, from subject: (any AnyObject & Sendable)?) -> Recipients {
    let recipients = store(for: E.self)._withUnsafeGuaranteedRef { store in
      observeAwaited(event, to: store.topic)
      // Only what is sticky has more to do than its type's name would tell a store of any.
      return store.traits.contains(.sticky)
        ? keep(event, from: subject, for: unsafeDowncast(store, to: TopicStore<E>.self))
        : Recipients(store: store, list: self.list(store, subject))
    }
    if recipients.list.isEmpty { reportUndelivered(event) }
    return recipients
  }

  private func list(_ store: HandlerStore, _ subject: AnyObject?) -> [Recipient] {
    withLock { _ in store.recipients(from: subject) }
  }

  private func keep<E: BusEvent>(
    _ event: E, from subject: (any AnyObject & Sendable)?, for store: TopicStore<E>
  ) -> Recipients {
    let (list, former) = withLock { _ in
      let former = store.keep(event, from: subject)
      return (store.recipients(from: subject), former)
    }
    withExtendedLifetime(former) {}
    return Recipients(store: store, list: list)
  }

  /// Counts one handler out that a waiting post has called, and another in that it is about to call.
  ///
  /// - Returns: whether the other is to be called: not if its subscription was cancelled.
  fileprivate func changeCall(from ended: UInt64?, to begun: Recipient?, in store: HandlerStore) -> Bool {
    var actions: [@Sendable () -> Void] = []
    var stands = false
    withLock { _ in
      if let ended { actions = awaitedCalls.end(ended) }
      guard let begun, store.stands(begun.id, begun.registration) else { return }
      awaitedCalls.begin(begun.id)
      stands = true
    }
    // The waits for the last call end.
    for action in actions { action() }
    return stands
  }
}

/// The receivers of a post, and the store in which they stand; the core keeps the store.
struct Recipients {
  unowned(unsafe) let store: HandlerStore
  let list: [Recipient]
}

/// The calls of one post that waits, one after another: a thread that cancels a subscription can wait for its handler to
/// return.
struct SynchronousCalls {
  private let core: BusCore
  private unowned(unsafe) let store: HandlerStore
  private var present: UInt64?

  init(of core: BusCore, in store: HandlerStore) { (self.core, self.store) = (core, store) }

  /// Ends the call before, if one has not been ended, and begins another, unless the subscription was cancelled.
  mutating func begin(_ recipient: Recipient) -> Bool {
    let stands = core.changeCall(from: present, to: recipient, in: store)
    present = stands ? recipient.id : nil
    return stands
  }

  /// The handler has returned, and none is called next.
  mutating func end() {
    guard let ended = present else { return }
    present = nil
    _ = core.changeCall(from: ended, to: nil, in: store)
  }
}
