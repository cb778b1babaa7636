internal import PubSub

extension Application {
  /// Starts a task that belongs to the application.
  ///
  ///     application.task { [weak self] in
  ///       for await price in prices { self?.show(price) }
  ///     }
  ///
  /// Use it in place of a plain `Task {}`. In a simulation the task and all that it starts run inside the simulation: an
  /// advance of the clock waits for their work, as it waits for handlers, and the order never depends on the machine. When the task has
  /// ended, the ledger lists it with its label or the line that started it.
  ///
  /// The application cancels the task when the process ends: at a termination, after the tear-down, or when the system
  /// kills the process. No transition waits for the task. For work that must be finished in the background use
  /// ``performBackgroundTask(named:_:)``. For work of a phase use ``run(while:after:label:fileID:line:_:)``.
  ///
  /// Like all work of the application, the task inherits neither the task-local values nor the priority of the code that
  /// starts it. Bind the values that the task needs in its body.
  ///
  /// The task may outlive the handler that starts it. An application that is not running can start tasks, too. The ledger
  /// lists a task that threw an error as failed, `try await task.value` throws the error, and the error is posted as
  /// `EventBus.HandlerFailure`. A test that watches the run does not fail.
  ///
  /// - Parameters:
  ///   - label: the task's name in the ledger; its source position if nil.
  ///   - fileID: the module and file of the call.
  ///   - line: the line of the call.
  ///   - body: the work to do, on the main actor; it begins after this method has returned.
  /// - Returns: the task, which may be awaited or cancelled; releasing it does not cancel it.
  @discardableResult
  public func task<Success: Sendable>(
    label: String? = nil, fileID: String = #fileID, line: Int = #line,
    _ body: @escaping @MainActor () async throws -> Success
  ) -> Task<Success, any Error> {
    ownTasks.start(EventBus.Subscriber(label: label, fileID: fileID, line: line), body)
  }

  /// Starts a task for an owner.
  ///
  /// The application holds the owner weakly until the task begins, and passes it to the body, which keeps it alive. If
  /// the owner has been released when the task begins, the body does not run. For an action that repeats as long as its
  /// owner exists use ``task(_:every:onError:label:fileID:line:_:)``, which does not keep the owner alive in between.
  ///
  /// The application cancels the task when the process ends. No transition waits for it. In a simulation an advance of
  /// the clock waits for its work. See ``task(label:fileID:line:_:)``.
  ///
  /// - Parameters:
  ///   - owner: held weakly, passed to the body.
  ///   - label: the task's name in the ledger; its source position if nil.
  ///   - fileID: the module and file of the call.
  ///   - line: the line of the call.
  ///   - body: the work to do with the owner, on the main actor; it begins after this method has returned.
  /// - Returns: the task, which may be awaited or cancelled; releasing it does not cancel it.
  @discardableResult
  public func task<Owner: AnyObject>(
    _ owner: Owner, label: String? = nil, fileID: String = #fileID, line: Int = #line,
    _ body: @escaping @MainActor (Owner) async throws -> Void
  ) -> Task<Void, any Error> {
    ownTasks.start(EventBus.Subscriber(label: label, fileID: fileID, line: line)) { [weak owner] in
      if let owner { try await body(owner) }
    }
  }

  /// Starts a task that repeats an action as long as its owner exists.
  ///
  ///     application.task(self, every: .seconds(60)) { model in try await model.refresh() }
  ///
  /// The first run of the action begins at once, and each further run one interval after the last has ended. The
  /// application keeps the owner alive while the action runs, and holds it weakly in between. The task ends when the
  /// owner has been released at the end of an interval.
  ///
  /// An error that the action throws is posted as `EventBus.HandlerFailure`, and the ledger and the host report it. By
  /// default the action is called again at its next time; `onError` chooses another reaction.
  ///
  /// The application cancels the task when the process ends. No transition waits for it. In a simulation an advance of
  /// the clock waits for its work. See ``task(label:fileID:line:_:)``.
  ///
  /// - Parameters:
  ///   - owner: held weakly, passed to the action.
  ///   - interval: the time between the end of one run and the beginning of the next, by ``clock``; at least a millisecond.
  ///   - onError: the reaction when the action throws: ``RunEnd/again`` and ``RunEnd/invalidate`` call it again at its next
  ///     time, ``RunEnd/rest`` ends the task with the error, and ``RunEnd/shutDown(status:)`` also ends the application.
  ///   - label: the task's name in the ledger; its source position if nil.
  ///   - fileID: the module and file of the call.
  ///   - line: the line of the call.
  ///   - action: the work to do with the owner, on the main actor.
  /// - Returns: the task, which may be awaited or cancelled; releasing it does not cancel it.
  @discardableResult
  public func task<Owner: AnyObject>(
    _ owner: Owner, every interval: Duration, onError: RunEnd = .again, label: String? = nil,
    fileID: String = #fileID, line: Int = #line, _ action: @escaping @MainActor (Owner) async throws -> Void
  ) -> Task<Void, any Error> {
    let interval = max(interval, .milliseconds(1))
    let source = EventBus.Subscriber(label: label, fileID: fileID, line: line)
    return ownTasks.start(source, repeats: true) { [weak owner, weak self, clock] in
      while true {
        let began = clock.now.offset
        do {
          let call = self?.interceptedCall(
            LedgerEntry(
              .task, source, step: CallStep.every.rawValue, began: began, duration: .zero, outcome: .completed))
          guard try await call.run({ try await Self.perform(action, with: owner) }) else { return }
        } catch {
          // The end of the task reports an error with which it ends.
          guard !Task.isCancelled, let self else { throw error }
          switch onError {
          case .again, .invalidate: ownTasks.periodicTaskDidThrow(error, source, began: began)
          case .rest: throw error
          case .shutDown(let status):
            shutDown(status: status, cause: LifecycleCause(.end, of: source.description))
            throw error
          }
        }
        try await clock.sleep(for: interval)
      }
    }
  }

  /// Calls an action with an owner, which is retained only for the call; returns false if the owner has been released.
  private static func perform<Owner: AnyObject>(
    _ action: @MainActor (Owner) async throws -> Void, with owner: Owner?
  ) async throws -> Bool {
    guard let owner else { return false }
    try Task.checkCancellation()
    try await action(owner)
    return true
  }
}
