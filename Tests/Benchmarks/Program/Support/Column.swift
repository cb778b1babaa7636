import BenchmarkHarness

/// The contestants, as the tables name them.
enum Column {
  static let floor = "floor"
  static let topic = "Topic"
  static let byType = "by type"
  static let ours = "ours"
  static let closures = "closures"
  /// Foundation's classic notifications.
  static let foundation = "Found."
  /// Foundation's typed messages.
  static let message = "message"
  static let stream = "AStream"
  /// A mutex with a snapshot in a `shared_ptr`, in C++.
  static let snapshot = "snapsh."
  static let boost = "boost"
  static let sigc = "sigc++"
}

extension Results {
  /// How the bus was posted to at its best: through a `Topic` where that was measured, else by type.
  func ours(_ row: String) -> String { self[row, Column.topic] == nil ? Column.byType : Column.topic }
}

extension Int {
  /// In digits, with a comma between thousands.
  var grouped: String {
    self < 1_000 ? "\(self)" : (self / 1_000).grouped + "," + "\(1_000 + self % 1_000)".dropFirst()
  }
}
