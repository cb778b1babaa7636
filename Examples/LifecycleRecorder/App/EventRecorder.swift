import AppLifecycle
import Foundation
import PubSub

/// Keeps every event of the life cycle, with the state of the application inside it.
///
/// The delegate reports its calls to the recorder. The recorder subscribes to the notifications itself.
@MainActor final class EventRecorder {
  /// An event was recorded.
  struct DidRecord: MainActorEvent {
    /// All recorded events, those of earlier launches included.
    let events: [RecordedEvent]
    /// The reason for which the file lacks some of them; nil if it lacks none.
    let problem: String?
  }

  /// The time.
  var now: () -> Date = { Date() }
  private(set) var events: [RecordedEvent]
  private var problem: String?
  private let file: EventFile?

  /// Creates a recorder that adds to the events in a file.
  ///
  /// - Parameter file: the file that keeps the events; nil for none.
  init(file: EventFile? = nil) {
    self.file = file
    events = file?.earlier ?? []
  }

  /// Subscribes to every notification of an application.
  func observe(_ application: Application, process: Int32) -> [EventBus.Subscription] {
    func record<E: ApplicationEvent>(_: E.Type) -> EventBus.Subscription {
      application.bus.subscribe(to: E.self, from: application) { [weak self] event in
        self?.add(E.callback, .notification, in: event.application, process: process)
      }
    }
    return [
      record(Application.DidFinishLaunching.self), record(Application.DidBecomeActive.self),
      record(Application.WillResignActive.self), record(Application.DidEnterBackground.self),
      record(Application.WillEnterForeground.self), record(Application.WillTerminate.self),
      record(Application.DidReceiveMemoryWarning.self), record(Application.SignificantTimeChange.self),
      record(Application.ProtectedDataWillBecomeUnavailable.self),
      record(Application.ProtectedDataDidBecomeAvailable.self),
    ]
  }

  /// Records one event, before the call returns: the process may be killed right after it.
  func add(
    _ callback: ApplicationCallback, _ place: RecordedEvent.Place, in application: Application, process: Int32
  ) {
    let event = RecordedEvent(
      process: process, time: now(), name: callback.shortName, place: place, state: application.state)
    events.append(event)
    do {
      try file?.append(event)
    } catch {
      problem = "\(error)"
    }
    application.bus.post(DidRecord(events: events, problem: problem))
  }
}
