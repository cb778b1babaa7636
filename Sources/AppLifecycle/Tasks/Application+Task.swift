internal import PubSub

extension Application {
  /// Starts a task that belongs to the application.
  ///
  ///     application.task { [weak self] in
  ///       for await price in prices { self?.show(price) }
  ///     }
  ///
  /// Use it in place of a plain `Task {}`. In a simulation the task runs inside the simulation: an advance of the clock waits for
  /// what the task does, as it waits for handlers, and the order never depends on the machine. The ledger names the task when it
  /// has ended, by its label or by the line that started it.
  ///
  /// The task is cancelled when the process ends: by a termination, after the tear-down, or because the system takes the process
  /// away. No transition waits for it. For work that has to be finished in the background use
  /// ``performBackgroundTask(named:_:)``, for work of a phase ``run(while:label:fileID:line:_:)``.
  ///
  /// A handler may start a task that outlives it. An application that is not running can start tasks, too.
  ///
  /// - Parameters:
  ///   - label: the task's name in the ledger; its source position if nil.
  ///   - fileID: the module and file of the call.
  ///   - line: the line of the call.
  ///   - body: what is done, on the main actor; it begins after this method has returned.
  /// - Returns: the task, which may be awaited or cancelled; releasing it does not cancel it.
  @discardableResult
  public func task<Success: Sendable>(
    label: String? = nil, fileID: String = #fileID, line: Int = #line,
    _ body: @escaping @MainActor () async throws -> Success
  ) -> Task<Success, any Error> {
    ownTasks.start(Subscriber(label: label, fileID: fileID, line: line), body)
  }

  /// Starts a task for an owner.
  ///
  /// The application holds the owner weakly until the task begins, and passes it to the body, which keeps it alive. If the
  /// owner is gone when the task begins, the body does not run. For an action that repeats as long as its owner lives use
  /// ``task(_:every:label:fileID:line:_:)``, which does not keep the owner alive in between. Otherwise as
  /// ``task(label:fileID:line:_:)``.
  ///
  /// - Parameters:
  ///   - owner: held weakly, passed to the body.
  ///   - label: the task's name in the ledger; its source position if nil.
  ///   - fileID: the module and file of the call.
  ///   - line: the line of the call.
  ///   - body: what is done with the owner, on the main actor; it begins after this method has returned.
  /// - Returns: the task, which may be awaited or cancelled; releasing it does not cancel it.
  @discardableResult
  public func task<Owner: AnyObject>(
    _ owner: Owner, label: String? = nil, fileID: String = #fileID, line: Int = #line,
    _ body: @escaping @MainActor (Owner) async throws -> Void
  ) -> Task<Void, any Error> {
    ownTasks.start(Subscriber(label: label, fileID: fileID, line: line)) { [weak owner] in
      if let owner { try await body(owner) }
    }
  }

  /// Starts a task that repeats an action as long as its owner lives.
  ///
  ///     application.task(self, every: .seconds(60)) { model in try await model.refresh() }
  ///
  /// The action runs at once, and again an interval after it has ended. The owner is kept alive while the action runs, and held
  /// weakly in between: the first interval that ends after the owner is gone ends the task. So does an error that the action
  /// throws. Otherwise as ``task(label:fileID:line:_:)``.
  ///
  /// - Parameters:
  ///   - owner: held weakly, passed to the action.
  ///   - interval: the time between the end of one run and the beginning of the next, by ``clock``; at least a millisecond.
  ///   - label: the task's name in the ledger; its source position if nil.
  ///   - fileID: the module and file of the call.
  ///   - line: the line of the call.
  ///   - action: what is done with the owner, on the main actor.
  /// - Returns: the task, which may be awaited or cancelled; releasing it does not cancel it.
  @discardableResult
  public func task<Owner: AnyObject>(
    _ owner: Owner, every interval: Duration, label: String? = nil, fileID: String = #fileID, line: Int = #line,
    _ action: @escaping @MainActor (Owner) async throws -> Void
  ) -> Task<Void, any Error> {
    let interval = max(interval, .milliseconds(1))
    return ownTasks.start(Subscriber(label: label, fileID: fileID, line: line)) { [weak owner, clock] in
      while try await Self.perform(action, with: owner) { try await clock.sleep(for: interval) }
    }
  }

  /// Does an action with an owner, and keeps it no longer; returns false if the owner is gone.
  private static func perform<Owner: AnyObject>(
    _ action: @MainActor (Owner) async throws -> Void, with owner: Owner?
  ) async throws -> Bool {
    guard let owner else { return false }
    try Task.checkCancellation()
    try await action(owner)
    return true
  }
}
