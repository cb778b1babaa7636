import AppLifecycle

/// An error: the arguments are invalid.
struct UsageError: Error {
  /// The reason in one line.
  ///
  /// Characters of repeated arguments that a terminal would obey are written out.
  let message: String

  init(_ message: String) { self.message = message.printable }
}

/// An error: a message for standard error, and the exit status.
struct Complaint: Error {
  let message: String
  let status: ExitStatus

  init(_ message: String, _ status: ExitStatus) { (self.message, self.status) = (message, status) }
}
