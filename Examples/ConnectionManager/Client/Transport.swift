import ExampleSupport

/// Bytes to a server and back: a socket, or a double of one in a test.
@MainActor protocol Transport: AnyObject {
  /// What has arrived, at least one byte; nil at the end of the stream. Cancelling the task ends the wait.
  func read() async throws -> [UInt8]?
  /// Sends a line without waiting; false if it cannot be sent.
  func send(_ line: String) -> Bool
  /// Ends the connection at once.
  func close()
}

extension Socket: Transport {}
