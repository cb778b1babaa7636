/// One run of an asynchronous handler with one event, from its call to its return.
///
/// The mailbox binds it in a ``HandlerContext``, so that a wait can find out whether it is inside a handler. Tasks that
/// the handler starts inherit the context and may outlive the run.
struct HandlerRun: Sendable {
  /// The default budget of a wait inside a handler.
  static let waitBudget: Duration = .seconds(30)

  let mailbox: AnyMailbox
  /// The odd number of the run; the mailbox has even numbers between two runs.
  let number: UInt64
  /// The type of the event; nil for a number of lost events of unknown types.
  let eventType: (any EventBus.Event.Type)?
  /// The kind of report that the run handles, or inside whose handler its event was posted; of lost events the earliest kind.
  let insideReport: SelfReport?

  var isUnderWay: Bool { mailbox.runUnderWay == number }
}

// MARK: - On an actor

extension HandlerRun {
  /// The error of a run that calls no handler: the subscription was cancelled before the handler could begin on its actor, or
  /// the owner has been released.
  struct NotCalled: Error {}

  /// Calls a handler on its actor, unless code there has cancelled the subscription while the run waited for the actor.
  ///
  /// The closure runs on the actor of this function: with `NonisolatedNonsendingByDefault` (Package.swift) an asynchronous
  /// function stays on its caller's actor.
  static func call(on actor: isolated any Actor, _ handler: @Sendable () async throws -> Void) async throws {
    if let run = HandlerContext.current?.run, run.mailbox.isClosed { throw NotCalled() }
    try await handler()
  }
}
