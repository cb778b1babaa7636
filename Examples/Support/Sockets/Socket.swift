import Glibc

/// A TCP socket that never blocks its thread: a call that would block suspends the task, and cancelling the task ends the wait.
@MainActor package final class Socket {
  private let descriptor: CInt
  private var isOpen = true

  private init(_ descriptor: CInt) { self.descriptor = descriptor }

  deinit { if isOpen { Glibc.close(descriptor) } }

  /// Ends the connection at once: when this returns, the end of the stream is on its way to the peer.
  ///
  /// Do not call this while a task waits for the socket: cancel the task first.
  package func close() {
    if isOpen { Glibc.close(descriptor) }
    isOpen = false
  }

  /// Connects to the first of the host's addresses that answers.
  ///
  /// - Throws: A `SystemError` that names the endpoint, or `CancellationError`.
  package static func connect(to endpoint: Endpoint) async throws -> Socket {
    var failure = SystemError("\(endpoint)", "no address")
    for address in try await Address.resolve(endpoint) {
      do throws(SystemError) {
        let socket = try await connect(to: address, named: "\(endpoint)")
        // A wait that is cancelled ends without a connection.
        if !Task.isCancelled { return socket }
      } catch {
        failure = error
      }
      try Task.checkCancellation()
    }
    throw failure
  }

  private static func connect(to address: Address, named name: String) async throws(SystemError) -> Socket {
    let socket = try Socket(family: address.family, named: name)
    // Repeats the request three times, some 15 seconds, instead of more than two minutes: the program tries again by itself.
    socket.setOption(IPPROTO_TCP, TCP_SYNCNT, 3)
    if address.withSockaddr({ Glibc.connect(socket.descriptor, $0, $1) }) != 0 {
      guard errno == EINPROGRESS else { throw SystemError(name) }
      await Readiness.writable.wait(for: socket.descriptor)
      var code: CInt = 0
      var size = socklen_t(MemoryLayout<CInt>.size)
      getsockopt(socket.descriptor, SOL_SOCKET, SO_ERROR, &code, &size)
      guard code == 0 else { throw SystemError(name, errno: code) }
    }
    return socket
  }

  /// Listens on a port that the kernel chooses and only this machine can reach.
  package static func listenOnLoopback() throws(SystemError) -> (Socket, Endpoint) {
    let name = "127.0.0.1"
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let socket = try Socket(family: AF_INET, named: name)
    let status = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        bind(socket.descriptor, pointer, size) == 0 && listen(socket.descriptor, 8) == 0
          && getsockname(socket.descriptor, pointer, &size) == 0
      }
    }
    guard status else { throw SystemError(name) }
    return (socket, Endpoint(host: name, port: UInt16(bigEndian: address.sin_port)))
  }

  private convenience init(family: CInt, named name: String) throws(SystemError) {
    let type = CInt(SOCK_STREAM.rawValue) | CInt(SOCK_NONBLOCK.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
    let descriptor = socket(family, type, 0)
    guard descriptor >= 0 else { throw SystemError(name) }
    self.init(descriptor)
  }

  private func setOption(_ level: Int, _ option: CInt, _ value: CInt) {
    var value = value
    setsockopt(descriptor, CInt(level), option, &value, socklen_t(MemoryLayout<CInt>.size))
  }

  /// Accepts the next connection to this listening socket.
  package func accept() async throws -> Socket {
    while true {
      try Task.checkCancellation()
      let accepted = Glibc.accept(descriptor, nil, nil)
      if accepted >= 0 {
        _ = fcntl(accepted, F_SETFL, O_NONBLOCK)  // not inherited from the listening socket
        _ = fcntl(accepted, F_SETFD, FD_CLOEXEC)
        return Socket(accepted)
      }
      switch errno {
      case EAGAIN: await Readiness.readable.wait(for: descriptor)
      case EINTR, ECONNABORTED: continue
      default: throw SystemError("listening socket")
      }
    }
  }

  /// Reads the bytes that have arrived, at least one; nil at the end of the stream.
  package func read() async throws -> [UInt8]? {
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
      // Reading bytes that are there already does not suspend, so a peer that never pauses would keep the actor busy.
      await Task.yield()
      try Task.checkCancellation()
      guard isOpen else { return nil }
      let count = recv(descriptor, &buffer, buffer.count, 0)
      if count > 0 { return Array(buffer[..<count]) }
      if count == 0 { return nil }
      switch errno {
      case EAGAIN: await Readiness.readable.wait(for: descriptor)
      case EINTR: continue
      default: throw SystemError("connection")
      }
    }
  }

  /// Sends a line, without waiting.
  ///
  /// A line that does not fit into the socket's buffer is dropped: lines are short, and a peer that leaves a whole buffer unread
  /// is not listening. With MSG_NOSIGNAL a lost connection is an error here, and does not end the process.
  ///
  /// - Returns: whether the whole line is on its way.
  @discardableResult package func send(_ line: String) -> Bool {
    guard isOpen else { return false }
    let bytes = Array("\(line)\n".utf8)
    return Glibc.send(descriptor, bytes, bytes.count, CInt(MSG_NOSIGNAL)) == bytes.count
  }
}
