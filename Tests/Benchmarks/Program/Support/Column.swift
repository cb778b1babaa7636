import BenchmarkHarness

/// The contestants, as the tables name them.
enum Column {
  /// The floor of a plain handler: a loop in C that calls.
  static let floor = "floor"
  /// The floor of an owner's handler: try-retain, call, release.
  static let retain = "retain"
  /// The same with a reading of the clock for each handler.
  static let clock = "clock"
  /// The floor of an owner's handler in the portable build: a weak load, call, release.
  static let weak = "weak"
  static let topic = "Topic"
  static let byType = "by type"
  static let ours = "ours"
  static let closures = "closures"
  /// Foundation's classic notifications.
  static let foundation = "Found."
  /// Foundation's classic notifications, whose blocks hold their owners weakly.
  static let foundationOwners = "F.weak"
  /// The same work without a life cycle, each operation of a resource awaited in its turn.
  static let byHand = "by hand"
  /// The same with a task for each operation.
  static let inTasks = "tasks"
  /// Foundation's typed messages.
  static let message = "message"
  static let stream = "AStream"
  /// A mutex with a snapshot in a `shared_ptr`, in C++.
  static let snapshot = "snapsh."
  static let boost = "boost"
  static let sigc = "sigc++"
}

extension Results {
  /// How the bus was posted to at its best: through an `EventBus.Topic` where that was measured, else by type.
  func ours(_ row: String) -> String { self[row, Column.topic] == nil ? Column.byType : Column.topic }
}

extension Int {
  /// In digits, with a comma between thousands.
  var grouped: String {
    self < 1_000 ? "\(self)" : (self / 1_000).grouped + "," + "\(1_000 + self % 1_000)".dropFirst()
  }
}
