// Subscribing to events whose type the subscriber does not know: by name, or to all events.

extension EventBus {
  /// Subscribes a handler to every event of a name; it runs on the poster's thread, before the post returns.
  ///
  /// The handler has its place in the same order of delivery as subscribers to the type.
  ///
  /// - Parameters:
  ///   - name: the name that the event types have.
  ///   - subject: only posts from this object; nil for all. It is held weakly.
  ///   - priority: where the handler stands in the order of delivery.
  ///   - label: what reports call the subscriber; its source position if nil.
  ///   - fileID: the source position.
  ///   - line: the source position.
  ///   - handler: called with each event.
  /// - Returns: the subscription, which cancels when it is released.
  /// - Complexity: linear in the number of event types that have been subscribed to.
  public func subscribe(
    named name: EventName, from subject: (any AnyObject & Sendable)? = nil, priority: Priority = .normal,
    label: String? = nil, fileID: String = #fileID, line: Int = #line,
    _ handler: @escaping @Sendable (any BusEvent) throws -> Void
  ) -> Subscription {
    let details = SubscriptionDetails(subject: subject, priority: priority, label: label, fileID: fileID, line: line)
    return Subscription(registerWildcard(named: name, details, handler: handler))
  }

  /// Subscribes an asynchronous handler to every event of a name, with a mailbox of its own.
  ///
  /// The handler never blocks the poster. An error that it throws is posted as ``HandlerFailure``.
  ///
  /// - Parameters:
  ///   - name: the name that the event types have.
  ///   - subject: only posts from this object; nil for all. It is held weakly.
  ///   - priority: where the handler stands in the order of delivery.
  ///   - label: what reports call the subscriber; its source position if nil.
  ///   - fileID: the source position.
  ///   - line: the source position.
  ///   - handler: called with each event.
  /// - Returns: the subscription, which cancels when it is released.
  /// - Complexity: linear in the number of event types that have been subscribed to.
  public func subscribe(
    named name: EventName, from subject: (any AnyObject & Sendable)? = nil, priority: Priority = .normal,
    label: String? = nil, fileID: String = #fileID, line: Int = #line,
    _ handler: @escaping @isolated(any) @Sendable (any BusEvent) async throws -> Void
  ) -> Subscription {
    let details = SubscriptionDetails(subject: subject, priority: priority, label: label, fileID: fileID, line: line)
    return Subscription(registerWildcardMailbox(named: name, details, handle: handler))
  }

  /// Subscribes a handler to every event; it runs on the poster's thread, before the post returns.
  ///
  /// The handler has its place in the same order of delivery as subscribers to the types.
  ///
  /// - Parameters:
  ///   - subject: only posts from this object; nil for all. It is held weakly.
  ///   - priority: where the handler stands in the order of delivery.
  ///   - label: what reports call the subscriber; its source position if nil.
  ///   - fileID: the source position.
  ///   - line: the source position.
  ///   - handler: called with each event.
  /// - Returns: the subscription, which cancels when it is released.
  /// - Complexity: linear in the number of event types that have been subscribed to.
  public func subscribeToAll(
    from subject: (any AnyObject & Sendable)? = nil, priority: Priority = .normal, label: String? = nil,
    fileID: String = #fileID, line: Int = #line, _ handler: @escaping @Sendable (any BusEvent) throws -> Void
  ) -> Subscription {
    let details = SubscriptionDetails(subject: subject, priority: priority, label: label, fileID: fileID, line: line)
    return Subscription(registerWildcard(named: nil, details, handler: handler))
  }

  /// Subscribes an asynchronous handler to every event, with a mailbox of its own.
  ///
  /// The handler never blocks the poster. An error that it throws is posted as ``HandlerFailure``.
  ///
  /// - Parameters:
  ///   - subject: only posts from this object; nil for all. It is held weakly.
  ///   - priority: where the handler stands in the order of delivery.
  ///   - label: what reports call the subscriber; its source position if nil.
  ///   - fileID: the source position.
  ///   - line: the source position.
  ///   - handler: called with each event.
  /// - Returns: the subscription, which cancels when it is released.
  /// - Complexity: linear in the number of event types that have been subscribed to.
  public func subscribeToAll(
    from subject: (any AnyObject & Sendable)? = nil, priority: Priority = .normal, label: String? = nil,
    fileID: String = #fileID, line: Int = #line,
    _ handler: @escaping @isolated(any) @Sendable (any BusEvent) async throws -> Void
  ) -> Subscription {
    let details = SubscriptionDetails(subject: subject, priority: priority, label: label, fileID: fileID, line: line)
    return Subscription(registerWildcardMailbox(named: nil, details, handle: handler))
  }

  /// Subscribes a handler that receives every event and the object that posted it; it runs on the poster's thread,
  /// before the post returns.
  ///
  /// The handler has its place in the same order of delivery as subscribers to the types.
  ///
  /// - Parameters:
  ///   - priority: where the handler stands in the order of delivery.
  ///   - label: what reports call the subscriber; its source position if nil.
  ///   - fileID: the source position.
  ///   - line: the source position.
  ///   - handler: called with each event and the subject of the post, which is nil if the post named none.
  /// - Returns: the subscription, which cancels when it is released.
  /// - Complexity: linear in the number of event types that have been subscribed to.
  public func subscribeToAll(
    priority: Priority = .normal, label: String? = nil, fileID: String = #fileID, line: Int = #line,
    _ handler: @escaping @Sendable (any BusEvent, (any AnyObject & Sendable)?) throws -> Void
  ) -> Subscription {
    subscribeToAll(priority: priority, label: label, fileID: fileID, line: line) { event in
      try handler(event, Posting.subject)
    }
  }

  /// Subscribes a handler that receives every event of a name and the object that posted it; it runs on the poster's
  /// thread, before the post returns.
  ///
  /// The handler has its place in the same order of delivery as subscribers to the type.
  ///
  /// - Parameters:
  ///   - name: the name that the event types have.
  ///   - priority: where the handler stands in the order of delivery.
  ///   - label: what reports call the subscriber; its source position if nil.
  ///   - fileID: the source position.
  ///   - line: the source position.
  ///   - handler: called with each event and the subject of the post, which is nil if the post named none.
  /// - Returns: the subscription, which cancels when it is released.
  /// - Complexity: linear in the number of event types that have been subscribed to.
  public func subscribe(
    named name: EventName, priority: Priority = .normal, label: String? = nil, fileID: String = #fileID,
    line: Int = #line, _ handler: @escaping @Sendable (any BusEvent, (any AnyObject & Sendable)?) throws -> Void
  ) -> Subscription {
    subscribe(named: name, priority: priority, label: label, fileID: fileID, line: line) { event in
      try handler(event, Posting.subject)
    }
  }
}
