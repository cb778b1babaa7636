import AppLifecycle

/// An error: the arguments are invalid.
struct UsageError: Error {
  /// The reason in one line.
  ///
  /// Characters of repeated arguments that a terminal would obey are written out.
  let message: String

  init(_ message: String) { self.message = message.printable }
}
