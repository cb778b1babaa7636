// Subscribing an asynchronous handler whose mailbox is bounded, and which is told what it loses.

extension EventBus {
  /// Subscribes an asynchronous handler whose mailbox holds a bounded number of events, and says where it lost some.
  ///
  /// Runs are serial and in posting order, and never block the poster. Events that are posted with `postAndWait` are never
  /// dropped. What the handler throws is posted as ``HandlerFailure``.
  ///
  /// - Parameters:
  ///   - type: the events.
  ///   - subject: only posts from this object; nil for all. It is held weakly.
  ///   - priority: where the handler stands in the order of delivery.
  ///   - replay: whether the latest event of a sticky type comes first; exactly once, also when others post meanwhile.
  ///   - label: what reports call the subscriber; its source position if nil.
  ///   - fileID: the source position.
  ///   - line: the source position.
  ///   - buffering: how many events it holds, and which is dropped when there is one too many.
  ///   - handler: called with each event, and with the number of those lost where they were lost.
  /// - Returns: the subscription, which cancels when it is released.
  public func subscribe<E: Event>(
    to type: E.Type = E.self, from subject: (any AnyObject & Sendable)? = nil, priority: Priority = .normal,
    replay: Replay = .none, label: String? = nil, fileID: String = #fileID, line: Int = #line, buffering: Buffering,
    _ handler: @escaping @Sendable (Received<E>) async throws -> Void
  ) -> Subscription {
    let details = SubscriptionDetails(subject: subject, priority: priority, label: label, fileID: fileID, line: line)
    return Subscription(registerMailbox(type, details, buffering, replay: replay, handle: handler))
  }

  /// Subscribes an asynchronous main-actor handler whose mailbox holds a bounded number of events, and says where it lost
  /// some.
  ///
  /// Runs are serial and in posting order, and never block the poster. Events that are posted with `postAndWait` are never
  /// dropped. An error that the handler throws is posted as ``HandlerFailure``.
  ///
  /// - Parameters:
  ///   - type: the events.
  ///   - subject: only posts from this object; nil for all. It is held weakly.
  ///   - priority: where the handler stands in the order of delivery.
  ///   - replay: whether the latest event of a sticky type comes first; exactly once, also when others post meanwhile.
  ///   - label: what reports call the subscriber; its source position if nil.
  ///   - fileID: the source position.
  ///   - line: the source position.
  ///   - buffering: how many events it holds, and which is dropped when there is one too many.
  ///   - handler: called with each event, and with the number of those lost where they were lost.
  /// - Returns: the subscription, which cancels when it is released.
  public func subscribe<E: MainActorEvent>(
    to type: E.Type = E.self, from subject: (any AnyObject & Sendable)? = nil, priority: Priority = .normal,
    replay: Replay = .none, label: String? = nil, fileID: String = #fileID, line: Int = #line, buffering: Buffering,
    _ handler: @escaping @MainActor (Received<E>) async throws -> Void
  ) -> Subscription {
    let details = SubscriptionDetails(subject: subject, priority: priority, label: label, fileID: fileID, line: line)
    let registration = registerMailbox(type, details, buffering, replay: replay) { received in
      try await HandlerRun.onMainActor { try await handler(received) }
    }
    return Subscription(registration)
  }
}
