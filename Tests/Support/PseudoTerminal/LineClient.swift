import Glibc

/// A client of a line-based server on 127.0.0.1.
package final class LineClient: Sendable {
  private let socket: OwnedDescriptor
  private let contents: Monitor<(lines: ReceivedLines, hasEnded: Bool)>

  /// Connects.
  package init(port: UInt16) throws {
    let descriptor = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw SystemError("socket") }
    let socket = OwnedDescriptor(descriptor)
    guard withLoopback(port, { connect(descriptor, $0, $1) }) == 0 else { throw SystemError("connect") }
    self.socket = socket
    let contents = Monitor((lines: ReceivedLines(), hasEnded: false)) {
      $0.lines.lines.joined(separator: "\n") + ($0.hasEnded ? "\n(end)" : "")
    }
    self.contents = contents
    startThread {
      var buffer = [UInt8](repeating: 0, count: 4096)
      while case let count = read(socket.number, &buffer, buffer.count), count > 0 {
        let bytes = buffer[..<count]
        contents.update { $0.lines.append(bytes) }
      }
      contents.update { $0.hasEnded = true }
    }
  }

  // Ends the thread's `read`.
  deinit { shutdown(socket.number, Int32(SHUT_RDWR)) }

  /// Sends bytes as they are.
  package func send(_ text: String) throws { try writeAll(Array(text.utf8), to: socket.number) }

  /// The next line that no one has taken yet.
  package func line(within limit: Duration = .seconds(240)) async throws -> String {
    try await contents.wait(for: "a line", within: limit) { contents in
      if let line = contents.lines.take(where: { _ in true }) { return line }
      guard contents.hasEnded else { return nil }
      throw WaitFailed(cause: .ended, wanted: "a line", found: contents.lines.lines.joined(separator: "\n"))
    }
  }

  /// Waits until the server has closed the connection.
  package func hasEnded(within limit: Duration = .seconds(240)) async throws {
    try await contents.wait(for: "the end of the connection", within: limit) { $0.hasEnded ? () : nil }
  }
}
