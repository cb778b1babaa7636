public import PubSub

/// A main-actor event that is posted before the change that it announces.
///
/// Its synchronous handlers run before the change: in a handler of ``Application/WillResignActive`` the state is still active.
/// An asynchronous handler, one with `await` in it, runs after the change, from a mailbox. As one `await` more is easily written,
/// the compiler warns of it, and names the two cures:
///
/// - Do what has to come before the change in a handler without `await`. It may start a task for the rest.
/// - Pass `runs: .afterChange`, to say that the handler may run after the change.
///
///       bus.subscribe(self, to: Application.WillResignActive.self, runs: .afterChange) { draft, _ in await draft.save() }
///
/// An event of your own that is posted before a change may conform, too.
public protocol AnnouncingEvent: MainActorEvent {}

extension Application.WillResignActive: AnnouncingEvent {}
extension Application.WillEnterForeground: AnnouncingEvent {}
extension Application.ProtectedDataWillBecomeUnavailable: AnnouncingEvent {}
extension Scene.WillConnect: AnnouncingEvent {}
extension Scene.WillEnterForeground: AnnouncingEvent {}
extension Scene.WillDeactivate: AnnouncingEvent {}

/// When an asynchronous handler of an ``AnnouncingEvent`` runs.
public enum AnnouncementTiming: Sendable, Hashable {
  /// After the change that the event announces.
  case afterChange
}
