import PubSub
internal import Scheduling

// What a bridge to observers without any knowledge of this package tells the application.

extension Application {
  /// Posted right before ``WillTerminate`` if the application has not been in the foreground since its launch, and so was
  /// never told that it enters the background.
  ///
  /// A bridge tells observers that do their work on leaving the foreground.
  package struct WillEndUnseen: MainActorEvent {
    /// The application.
    package let application: Application
    /// The transition at whose end the process ends.
    package let transition: LifecycleTransition
  }

  /// Grants the default grace for this stay, because a bridge has told observers that the application is in the
  /// background; they may have started work that they did not announce.
  package func didTellObserversOfBackground() { background.grace.didTellObservers(at: running.now()) }

  /// Tells a bridge that the application ends without having been in the foreground.
  ///
  /// What it starts has the budget of willTerminate.
  func tellUnseenEnd(_ transition: LifecycleTransition) {
    // Not a subscriber to all events, nor a tracer: the event is a bridge's alone.
    guard !background.grace.wasSeen, bus.subscriptions.contains(where: { $0.eventName == WillEndUnseen.name }) else {
      return
    }
    tearDown.beginBudget(of: .willTerminate)
    bus.post(WillEndUnseen(application: self, transition: transition), from: self)
  }
}
