import Glibc

/// A TCP server on 127.0.0.1 that does what the test tells it, and tells the test when connections come and go.
package final class LineServer: Sendable {
  private struct Arrivals: Sendable {
    var connections: [Connection] = []
    var taken = 0
    /// The listening socket, until it is closed.
    var listener: Int32?
  }

  /// The port it listens on; it stays reserved while this object lives.
  package var port: UInt16 { reserved.port }
  private let reserved: ReservedPort
  private let arrivals: Monitor<Arrivals>

  /// Listens on `port`, or on one that is free.
  package init(port: UInt16 = 0) throws {
    reserved = try ReservedPort(port)
    let (listener, _) = try boundSocket(reserved.port)
    guard listen(listener, 16) == 0 else {
      let error = SystemError("listen")
      close(listener)
      throw error
    }
    let arrivals = Monitor(Arrivals(listener: listener)) { "\($0.connections.count) connections" }
    self.arrivals = arrivals
    startThread {
      while true {
        let descriptor = accept(listener, nil, nil)
        if descriptor >= 0 {
          arrivals.update { $0.connections.append(Connection(descriptor, number: $0.connections.count + 1)) }
        } else if errno != EINTR && errno != ECONNABORTED {
          break
        }
      }
      arrivals.update {
        close(listener)
        $0.listener = nil
      }
    }
  }

  /// How many connections have come in all.
  package var connectionCount: Int { arrivals.state.connections.count }

  /// Waits for the next connection that no one has taken yet.
  package func nextConnection(within limit: Duration = .seconds(240)) async throws -> Connection {
    try await arrivals.wait(for: "connection to port \(port)", within: limit) { arrivals in
      guard arrivals.taken < arrivals.connections.count else { return nil }
      arrivals.taken += 1
      return arrivals.connections[arrivals.taken - 1]
    }
  }

  /// Stops listening, so that connecting is refused from now on, and closes all connections.
  package func stop() async {
    arrivals.update {
      // Ends the thread's `accept`; the thread then closes the socket.
      if let listener = $0.listener { shutdown(listener, Int32(SHUT_RDWR)) }
      for connection in $0.connections { connection.close() }
    }
    try? await arrivals.wait(for: "the end of the listener", within: .seconds(30)) { $0.listener == nil ? () : nil }
  }

  /// Runs `body` with a server and stops it afterwards, also when the body throws.
  package static func run<Result>(
    port: UInt16 = 0, _ body: (LineServer) async throws -> Result
  ) async throws -> Result {
    let server = try LineServer(port: port)
    return try await running {
      try await body(server)
    } finally: {
      await server.stop()
    }
  }

  /// One client's connection.
  package final class Connection: Sendable {
    private struct Traffic: Sendable {
      var received = ReceivedLines()
      /// The socket, until both sides are done with it.
      var socket: Int32?
    }

    /// Which connection of the server it is, from 1.
    package let number: Int
    private let traffic: Monitor<Traffic>

    init(_ socket: Int32, number: Int) {
      self.number = number
      let traffic = Monitor(Traffic(socket: socket)) { $0.received.lines.joined(separator: "\n") }
      self.traffic = traffic
      startThread {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while true {
          let count = read(socket, &buffer, buffer.count)
          if count > 0 {
            let chunk = buffer[0..<count]
            traffic.update { $0.received.append(chunk) }
          } else if count == 0 || errno != EINTR {
            break
          }
        }
        traffic.update {
          Glibc.close(socket)
          $0.socket = nil
        }
      }
    }

    /// Whether the client has closed it, or the server.
    package var isClosed: Bool { traffic.state.socket == nil }

    /// Sends a line to the client; to one that has gone without effect.
    package func send(_ line: String) {
      let bytes = Array((line + "\n").utf8)
      traffic.update {
        // A line fits the socket's buffer, so this does not wait. The flag keeps a client that has gone from raising SIGPIPE.
        if let socket = $0.socket { _ = Glibc.send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL)) }
      }
    }

    /// Waits for the next line from the client.
    package func nextLine(within limit: Duration = .seconds(240)) async throws -> String {
      try await traffic.wait(for: "a line on connection \(number)", within: limit) { traffic in
        if let line = traffic.received.take(where: { _ in true }) { return line }
        if traffic.socket == nil { throw WaitFailed(cause: .ended, wanted: "a line", found: "a closed connection") }
        return nil
      }
    }

    /// Closes the connection from the server's side.
    package func close() {
      // Ends the thread's `read`; the thread then closes the socket.
      traffic.update { if let socket = $0.socket { shutdown(socket, Int32(SHUT_RDWR)) } }
    }

    /// Waits until the connection is closed: by the client, if ``close()`` was not called.
    package func closed(within limit: Duration = .seconds(240)) async throws {
      try await traffic.wait(for: "the close of connection \(number)", within: limit) { $0.socket == nil ? () : nil }
    }
  }
}

/// A port of 127.0.0.1 on which no server listens, and which the system gives to no program that asks for a free one.
///
/// Without it a client that tries a port again and again, until a server is there, may find that of another test. Code that asks for
/// this port, and for `SO_REUSEADDR`, may listen on it.
package final class ReservedPort: Sendable {
  /// The port.
  package let port: UInt16
  private let socket: Int32

  /// Reserves a port, or one that is free, for as long as this object lives.
  package init(_ port: UInt16 = 0) throws { (socket, self.port) = try boundSocket(port) }

  deinit { close(socket) }
}

/// A socket that does not listen yet.
///
/// Several may have the same port, if it is asked for, as long as none listens.
private func boundSocket(_ port: UInt16) throws -> (socket: Int32, port: UInt16) {
  let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
  guard descriptor >= 0 else { throw SystemError("socket") }
  var yes: Int32 = 1
  setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
  let bound = withLoopback(port) { address, length -> UInt16? in
    var length = length
    guard bind(descriptor, address, length) == 0, getsockname(descriptor, address, &length) == 0 else { return nil }
    return UnsafeRawPointer(address).load(as: sockaddr_in.self).sin_port
  }
  guard let bound else {
    let error = SystemError("bind")
    close(descriptor)
    throw error
  }
  return (descriptor, UInt16(bigEndian: bound))
}
