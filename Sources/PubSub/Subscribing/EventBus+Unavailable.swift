// The wrong word: a handler that cannot be called before `post` returns, passed to `subscribe`. The compiler prefers these
// overloads to an error that does not name the right word.

extension EventBus {
  /// Unavailable: an asynchronous handler is called later, by `receive`.
  @available(
    *, unavailable,
    message:
      "'subscribe' calls its handler before 'post' returns; a handler with 'await', 'replay:' or 'buffering:' is called later: use 'receive'"
  )
  @discardableResult
  public func subscribe<E: Event>(
    to type: E.Type = E.self, from subject: Subject? = nil, priority: Priority = .normal, replay: Replay<E> = .none,
    buffering: Buffering = .unbounded, once: Bool = false,
    label: String? = nil, fileID: String = #fileID, line: Int = #line,
    @_inheritActorContext _ handler: @escaping @isolated(any) @Sendable (E) async throws -> Void
  ) -> Subscription { fatalError() }

  /// Unavailable: an asynchronous handler is called later, by `receive`.
  @available(
    *, unavailable,
    message:
      "'subscribe' calls its handler before 'post' returns; a handler with 'await', 'replay:' or 'buffering:' is called later: use 'receive'"
  )
  @discardableResult
  public func subscribe<Owner: AnyObject & Sendable, E: Event>(
    to type: E.Type = E.self, for owner: Owner, from subject: Subject? = nil, priority: Priority = .normal,
    replay: Replay<E> = .none, buffering: Buffering = .unbounded, once: Bool = false,
    label: String? = nil, fileID: String = #fileID, line: Int = #line,
    @_inheritActorContext _ handler: @escaping @isolated(any) @Sendable (Owner, E) async throws -> Void
  ) -> OwnedSubscription { fatalError() }

  /// Unavailable: an asynchronous handler is called later, by `receiveAll`.
  @available(
    *, unavailable,
    message:
      "'subscribeToAll' calls its handler before 'post' returns; a handler with 'await' or 'buffering:' is called later: use 'receiveAll'"
  )
  @discardableResult
  public func subscribeToAll(
    named name: EventName? = nil, from subject: Subject? = nil, priority: Priority = .normal,
    buffering: Buffering = .unbounded, once: Bool = false,
    label: String? = nil, fileID: String = #fileID, line: Int = #line,
    @_inheritActorContext _ handler: @escaping @isolated(any) @Sendable (any Event) async throws -> Void
  ) -> Subscription { fatalError() }

  /// Unavailable: an asynchronous handler is called later, by `receiveAll`.
  @available(
    *, unavailable,
    message:
      "'subscribeToAll' calls its handler before 'post' returns; a handler with 'await' or 'buffering:' is called later: use 'receiveAll'"
  )
  @discardableResult
  public func subscribeToAll<Owner: AnyObject & Sendable>(
    named name: EventName? = nil, for owner: Owner, from subject: Subject? = nil, priority: Priority = .normal,
    buffering: Buffering = .unbounded, once: Bool = false,
    label: String? = nil, fileID: String = #fileID, line: Int = #line,
    @_inheritActorContext _ handler: @escaping @isolated(any) @Sendable (Owner, any Event) async throws -> Void
  ) -> OwnedSubscription { fatalError() }
}
