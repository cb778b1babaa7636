import AppLifecycle
import Foundation

/// An event of the life cycle, with the state that the application had inside it.
struct RecordedEvent: Codable, Hashable, Sendable {
  /// Where the program was called.
  enum Place: String, Codable, Sendable { case delegate, notification }

  /// The number of the process, which a launch and its events have in common.
  var process: Int32
  var time: Date
  /// The callback's short name: `didBecomeActive`.
  var name: String
  var place: Place
  /// What `application.state` was at that moment.
  var state: ApplicationState
}
