import AppLifecycle
import PubSub

/// Keeps the last life-cycle events: name, state inside the callback, time.
@MainActor final class EventLog {
  struct DidChange: MainActorEvent { let events: [ScreenContents.Event] }

  /// How many events are kept: more than any screen has rows.
  private static let limit = 200

  private var events: [ScreenContents.Event] = []
  private let bus: EventBus

  init(application: Application, time: @escaping @MainActor () -> String) {
    bus = application.bus

    func keep<E: ApplicationEvent>(_: E.Type) {
      bus.subscribe(to: E.self, for: self, from: application) { log, event in
        log.add(.init(name: E.callback.shortName, state: event.application.state.rawValue, time: time()))
      }
    }
    keep(Application.DidFinishLaunching.self)
    keep(Application.DidBecomeActive.self)
    keep(Application.WillResignActive.self)
    keep(Application.DidEnterBackground.self)
    keep(Application.WillEnterForeground.self)
    keep(Application.WillTerminate.self)
    keep(Application.DidReceiveMemoryWarning.self)
    keep(Application.SignificantTimeChange.self)
  }

  private func add(_ event: ScreenContents.Event) {
    events = events.suffix(Self.limit - 1) + [event]
    bus.post(DidChange(events: events), from: self)
  }
}
