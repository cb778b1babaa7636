// Subscribing an asynchronous handler whose mailbox is bounded. The handler receives the number of events that it lost.

extension EventBus {
  /// Subscribes an asynchronous handler with a bounded mailbox; it receives the events, and the number of lost events
  /// where some were lost.
  ///
  /// The handler handles one event at a time, in the order of posting, and never blocks the poster. Events that are
  /// posted with `postAndWait` are never dropped. An error that the handler throws is posted as ``HandlerFailure``.
  ///
  /// - Parameters:
  ///   - type: the events.
  ///   - subject: only posts from this object; nil for all. It is held weakly.
  ///   - priority: where the handler stands in the order of delivery.
  ///   - replay: `.latest` to receive the latest event of a sticky type first: exactly once, even if other threads post
  ///     at the same time. The replayed event counts toward the bound, and may be dropped.
  ///   - label: what reports call the subscriber; its source position if nil.
  ///   - fileID: the source position.
  ///   - line: the source position.
  ///   - buffering: how many events the mailbox holds, and which event is dropped when it is full.
  ///   - handler: called with each event and, where events were lost, with their number.
  /// - Returns: the subscription, which cancels when it is released.
  public func subscribe<E: Event>(
    to type: E.Type = E.self, from subject: (any AnyObject & Sendable)? = nil, priority: Priority = .normal,
    replay: Replay = .none, label: String? = nil, fileID: String = #fileID, line: Int = #line, buffering: Buffering,
    _ handler: @escaping @isolated(any) @Sendable (Received<E>) async throws -> Void
  ) -> Subscription {
    let details = SubscriptionDetails(subject: subject, priority: priority, label: label, fileID: fileID, line: line)
    return Subscription(registerMailbox(type, details, buffering, replay: replay, handle: handler))
  }

  /// Subscribes an asynchronous main-actor handler with a bounded mailbox; it receives the events, and the number of
  /// lost events where some were lost.
  ///
  /// The handler handles one event at a time, in the order of posting, and never blocks the poster. Events that are
  /// posted with `postAndWait` are never dropped. An error that the handler throws is posted as ``HandlerFailure``.
  ///
  /// - Parameters:
  ///   - type: the events.
  ///   - subject: only posts from this object; nil for all. It is held weakly.
  ///   - priority: where the handler stands in the order of delivery.
  ///   - replay: `.latest` to receive the latest event of a sticky type first: exactly once, even if other threads post
  ///     at the same time. The replayed event counts toward the bound, and may be dropped.
  ///   - label: what reports call the subscriber; its source position if nil.
  ///   - fileID: the source position.
  ///   - line: the source position.
  ///   - buffering: how many events the mailbox holds, and which event is dropped when it is full.
  ///   - handler: called with each event and, where events were lost, with their number.
  /// - Returns: the subscription, which cancels when it is released.
  public func subscribe<E: MainActorEvent>(
    to type: E.Type = E.self, from subject: (any AnyObject & Sendable)? = nil, priority: Priority = .normal,
    replay: Replay = .none, label: String? = nil, fileID: String = #fileID, line: Int = #line, buffering: Buffering,
    _ handler: @escaping @MainActor (Received<E>) async throws -> Void
  ) -> Subscription {
    let details = SubscriptionDetails(subject: subject, priority: priority, label: label, fileID: fileID, line: line)
    return Subscription(registerMailbox(type, details, buffering, replay: replay, handle: handler))
  }
}
