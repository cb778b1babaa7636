public import PubSub

/// A main-actor event that is posted before the change that it announces.
///
/// Its synchronous handlers run before the change: in a handler of ``Application/WillResignActive`` the state is still
/// active. An asynchronous handler, which contains an `await`, runs after the change. A single added `await` therefore
/// changes the order, so the compiler warns of it and names two solutions:
///
/// - Put the work that must come before the change into a handler without `await`. That handler may start a task for
///   the rest.
/// - Pass `runs: .afterChange` to confirm that the handler may run after the change. This library extends
///   `EventBus` by the methods with this parameter, after `priority:` and `label:`.
///
///       bus.subscribe(self, to: Application.WillResignActive.self, runs: .afterChange) {
///         draft, _ in await draft.save()
///       }
///
/// Conform your own event, too, if you post it before the change that it announces.
public protocol AnnouncingEvent: MainActorEvent {}

extension Application.WillResignActive: AnnouncingEvent {}
extension Application.WillEnterForeground: AnnouncingEvent {}
extension Application.ProtectedDataWillBecomeUnavailable: AnnouncingEvent {}
extension Scene.WillConnect: AnnouncingEvent {}
extension Scene.WillEnterForeground: AnnouncingEvent {}
extension Scene.WillDeactivate: AnnouncingEvent {}

/// The time at which an asynchronous handler of an ``AnnouncingEvent`` runs.
public enum AnnouncementTiming: Sendable, Hashable {
  /// After the change that the event announces.
  case afterChange
}
