import ExampleSupport

/// A connection that carries bytes to a server and back: a socket, or a double in a test.
@MainActor protocol Transport: AnyObject {
  /// Reads the bytes that have arrived, at least one; nil at the end of the stream. Cancelling the task ends the wait.
  func read() async throws -> [UInt8]?
  /// Sends a line without waiting; false if it cannot be sent.
  func send(_ line: String) -> Bool
  /// Ends the connection at once.
  func close()
}

extension Socket: Transport {}
