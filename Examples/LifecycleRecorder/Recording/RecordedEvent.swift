import AppLifecycle
import Foundation

/// An event of the life cycle, with the state that the application had inside it.
struct RecordedEvent: Codable, Hashable, Sendable {
  /// The way in which the event reached the program: a call of the delegate or a notification.
  enum Place: String, Codable, Sendable { case delegate, notification }

  /// The number of the process, the same for all events of a launch.
  var process: Int32
  var time: Date
  /// The callback's short name: `didBecomeActive`.
  var name: String
  var place: Place
  /// The value of `application.state` at that moment.
  var state: ApplicationState
}
