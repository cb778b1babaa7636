public import PubSub

// Overloads for subscribing to an `AnnouncingEvent` with an asynchronous handler. Either the caller confirms that the
// handler runs after the change, or the compiler warns. Synchronous handlers use the overloads of PubSub.

extension EventBus {
  /// Subscribes an asynchronous main-actor handler for an owner; it runs after the change that the event announces.
  ///
  /// The handler has a mailbox of its own: its runs are serial and in posting order. An error that it throws is posted
  /// as `HandlerFailure`. If the event closes a phase (``Application/WillResignActive``, ``Scene/WillDeactivate``), the
  /// application awaits the handler within its budget. For other events it does not wait.
  ///
  /// - Parameters:
  ///   - owner: the object that is passed to the handler, held weakly. The subscription ends when the owner is
  ///     released.
  ///   - type: the type of the events.
  ///   - subject: the object whose posts the handler receives, held weakly; nil for the posts of all objects.
  ///   - priority: the handler's place in the order of delivery.
  ///   - label: the subscriber's name in reports; its source position if nil.
  ///   - fileID: the module and file of the call.
  ///   - line: the line of the call.
  ///   - timing: confirms that the handler runs after the change.
  ///   - handler: called with the owner and each event. Use the owner that is passed in: the handler would never
  ///     release one that it captures.
  /// - Returns: the subscription; use it to cancel before the owner is released.
  @discardableResult
  public func subscribe<Owner: AnyObject & Sendable, E: AnnouncingEvent>(
    _ owner: Owner, to type: E.Type = E.self, from subject: (any AnyObject & Sendable)? = nil,
    priority: Priority = .normal, label: String? = nil, fileID: String = #fileID, line: Int = #line,
    runs timing: AnnouncementTiming, _ handler: @escaping @MainActor (Owner, E) async throws -> Void
  ) -> Subscription {
    subscribeAsynchronously(owner, to: type, from: subject, priority, .none, label, fileID, line, handler)
  }

  /// Subscribes an asynchronous main-actor handler; it runs after the change that the event announces.
  ///
  /// The handler has a mailbox of its own: its runs are serial and in posting order. An error that it throws is posted
  /// as `HandlerFailure`. If the event closes a phase (``Application/WillResignActive``, ``Scene/WillDeactivate``), the
  /// application awaits the handler within its budget. For other events it does not wait.
  ///
  /// - Parameters:
  ///   - type: the type of the events.
  ///   - subject: the object whose posts the handler receives, held weakly; nil for the posts of all objects.
  ///   - priority: the handler's place in the order of delivery.
  ///   - label: the subscriber's name in reports; its source position if nil.
  ///   - fileID: the module and file of the call.
  ///   - line: the line of the call.
  ///   - timing: confirms that the handler runs after the change.
  ///   - handler: called with each event.
  /// - Returns: the subscription; releasing it cancels it.
  public func subscribe<E: AnnouncingEvent>(
    to type: E.Type = E.self, from subject: (any AnyObject & Sendable)? = nil, priority: Priority = .normal,
    label: String? = nil, fileID: String = #fileID, line: Int = #line, runs timing: AnnouncementTiming,
    _ handler: @escaping @MainActor (E) async throws -> Void
  ) -> Subscription {
    subscribeAsynchronously(to: type, from: subject, priority, .none, label, fileID, line, handler)
  }

  /// Warns that a handler with `await` runs after the change that the event announces, and subscribes it.
  ///
  /// - Parameters:
  ///   - owner: the object that is passed to the handler, held weakly. The subscription ends when the owner is
  ///     released.
  ///   - type: the type of the events.
  ///   - subject: the object whose posts the handler receives, held weakly; nil for the posts of all objects.
  ///   - priority: the handler's place in the order of delivery.
  ///   - replay: whether the handler first receives the latest event of a sticky type.
  ///   - label: the subscriber's name in reports; its source position if nil.
  ///   - fileID: the module and file of the call.
  ///   - line: the line of the call.
  ///   - handler: called with the owner and each event.
  /// - Returns: the subscription; use it to cancel before the owner is released.
  @available(
    *, deprecated,
    message:
      "a handler with 'await' runs after the change that this event announces: drop 'await' to run before it, or add 'runs: .afterChange'"
  )
  @discardableResult
  public func subscribe<Owner: AnyObject & Sendable, E: AnnouncingEvent>(
    _ owner: Owner, to type: E.Type = E.self, from subject: (any AnyObject & Sendable)? = nil,
    priority: Priority = .normal, replay: Replay = .none, label: String? = nil, fileID: String = #fileID,
    line: Int = #line,
    _ handler: @escaping @MainActor (Owner, E) async throws -> Void
  ) -> Subscription {
    subscribeAsynchronously(owner, to: type, from: subject, priority, replay, label, fileID, line, handler)
  }

  /// Warns that a handler with `await` runs after the change that the event announces, and subscribes it.
  ///
  /// - Parameters:
  ///   - type: the type of the events.
  ///   - subject: the object whose posts the handler receives, held weakly; nil for the posts of all objects.
  ///   - priority: the handler's place in the order of delivery.
  ///   - replay: whether the handler first receives the latest event of a sticky type.
  ///   - label: the subscriber's name in reports; its source position if nil.
  ///   - fileID: the module and file of the call.
  ///   - line: the line of the call.
  ///   - handler: called with each event.
  /// - Returns: the subscription; releasing it cancels it.
  @available(
    *, deprecated,
    message:
      "a handler with 'await' runs after the change that this event announces: drop 'await' to run before it, or add 'runs: .afterChange'"
  )
  public func subscribe<E: AnnouncingEvent>(
    to type: E.Type = E.self, from subject: (any AnyObject & Sendable)? = nil, priority: Priority = .normal,
    replay: Replay = .none, label: String? = nil, fileID: String = #fileID, line: Int = #line,
    _ handler: @escaping @MainActor (E) async throws -> Void
  ) -> Subscription {
    subscribeAsynchronously(to: type, from: subject, priority, replay, label, fileID, line, handler)
  }
}

// Generic over any main-actor event, so that these calls choose the overloads of PubSub, not those above.
extension EventBus {
  private func subscribeAsynchronously<Owner: AnyObject & Sendable, E: MainActorEvent>(
    _ owner: Owner, to type: E.Type, from subject: (any AnyObject & Sendable)?, _ priority: Priority,
    _ replay: Replay, _ label: String?, _ fileID: String, _ line: Int,
    _ handler: @escaping @MainActor (Owner, E) async throws -> Void
  ) -> Subscription {
    subscribe(
      owner, to: type, from: subject, priority: priority, replay: replay, label: label, fileID: fileID, line: line,
      handler)
  }

  private func subscribeAsynchronously<E: MainActorEvent>(
    to type: E.Type, from subject: (any AnyObject & Sendable)?, _ priority: Priority, _ replay: Replay,
    _ label: String?, _ fileID: String, _ line: Int, _ handler: @escaping @MainActor (E) async throws -> Void
  ) -> Subscription {
    subscribe(
      to: type, from: subject, priority: priority, replay: replay, label: label, fileID: fileID, line: line, handler)
  }
}
