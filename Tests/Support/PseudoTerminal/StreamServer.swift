import CPseudoTerminal
import Glibc

/// A stream socket in the file system that takes one connection.
package final class StreamServer: Sendable {
  private struct Connection: Sendable {
    var client: OwnedDescriptor?
    var bytes: [UInt8] = []
  }

  /// Where it listens.
  package let path: String
  private let connection = Monitor(Connection())

  /// Listens at a path.
  package init(_ path: String) throws {
    self.path = path
    let listener = cpt_stream_listen(path)
    guard listener >= 0 else { throw SystemError("listen \(path)") }
    startThread { [connection] in
      let descriptor = accept(listener, nil, nil)
      close(listener)
      guard descriptor >= 0 else { return }
      let client = OwnedDescriptor(descriptor)
      connection.update { $0.client = client }
      var buffer = [UInt8](repeating: 0, count: 4096)
      while case let count = read(client.number, &buffer, buffer.count), count > 0 {
        let bytes = Array(buffer[..<count])
        connection.update { $0.bytes += bytes }
      }
    }
  }

  /// The first bytes that the client sends, once they are all there.
  package func received(_ count: Int, within limit: Duration = .seconds(240)) async throws -> [UInt8] {
    try await connection.wait(for: "\(count) bytes", within: limit) { connection in
      connection.bytes.count < count ? nil : Array(connection.bytes[..<count])
    }
  }

  /// Sends to the client that has connected.
  package func send(_ text: String) throws {
    guard let client = connection.state.client else { return }
    try writeAll(Array(text.utf8), to: client.number)
  }

  /// Ends the connection.
  package func closeConnection() {
    if let client = connection.state.client { shutdown(client.number, Int32(SHUT_RDWR)) }
  }
}
