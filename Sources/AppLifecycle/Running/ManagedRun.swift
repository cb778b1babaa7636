internal import PubSub
internal import Scheduling

/// A body that an application runs for an owner, and a way to cancel it.
///
/// ``Application/run(_:while:after:retry:readiness:onReturn:onError:label:fileID:line:_:)`` returns it.
///
/// Releasing this object does not cancel the body.
public final class ManagedRun: Sendable {
  /// The body's name in reports: its label, or, without a label, its source position.
  package let name: String
  let holding = ResourceHolding()
  private weak let manager: ResourceManager?
  private let tasks: TaskStarter
  /// Its index in the manager, set before any code can read it.
  @MainActor var index = 0

  init(_ source: EventBus.Subscriber, in manager: ResourceManager, tasks: TaskStarter) {
    (name, self.manager, self.tasks) = (source.description, manager, tasks)
  }

  /// Cancels the body for good.
  ///
  /// Any thread may call it. A second call has no effect. The method returns at once; the body ends when it has noticed
  /// the cancellation.
  public func cancel() {
    holding.cancel()
    tasks.startOnMainActor { self.end() }
  }

  @MainActor func end() {
    holding.cancel()
    if let manager, manager.manages(holding, at: index) { manager.remove(index) }
  }
}

extension ResourceOperations {
  /// Creates the operations of a body, which has a run loop and no handle.
  convenience init(
    body: EventBus.Subscriber, _ holding: ResourceHolding, _ run: @escaping @MainActor () async throws -> Void
  ) {
    self.init(
      name: body.description, holding: holding, body: body, acquire: { HandleBox(()) }, release: { _ in {} })
    self.run = { _ in try await run() }
  }
}
