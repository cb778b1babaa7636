import Glibc
import PseudoTerminal

/// Clients of the daemon that send lines without a pause, and one that sends a line now and then; each is a socket.
///
/// Used by one thread at a time.
final class GreedyClients: @unchecked Sendable {
  private static let line = Array("a b c\n".utf8)
  /// Begins with a whole line, at each of the line's offsets.
  private let text = Array(repeating: line, count: 1400).flatMap { $0 }

  private struct Client {
    let socket: Int32
    var sent = 0
    var received = 0
  }

  private var clients: [Client] = []
  private var buffer = [UInt8](repeating: 0, count: 65_536)

  /// Lets this process have as many sockets as the tests need.
  static func allowSockets(_ count: Int) throws {
    var limit = rlimit()
    let wanted = rlim_t(count + 500)
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    guard limit.rlim_cur < wanted else { return }
    limit.rlim_cur = min(wanted, limit.rlim_max)
    guard limit.rlim_cur == wanted, setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else {
      throw SystemError("setrlimit", code: EMFILE)
    }
  }

  /// Connects so many clients, whether the daemon accepts them now or later.
  init(_ count: Int, port: UInt16) throws {
    for _ in 0..<count { clients.append(Client(socket: try connectedSocket(to: port))) }
  }

  deinit { for client in clients { close(client.socket) } }

  /// Waits for each client's greeting.
  func takeGreetings() throws {
    for client in clients { _ = try readLine(from: client.socket) }
  }

  /// Sends each client's lines until the system takes no more of them, or `limit` bytes are sent.
  ///
  /// - Returns: how many lines the daemon has to answer by now.
  func fill(limit: Int) -> Int {
    for index in clients.indices {
      var left = limit
      while left > 0, case let count = send(index, atMost: left), count > 0 { left -= count }
    }
    return unanswered
  }

  /// How many of the lines that are to be answered have not been, though the answers have not been read.
  ///
  /// What the daemon has written on a local connection is there for its client at once.
  var unanswered: Int {
    clients.reduce(0) { sum, client in
      var available: Int32 = 0
      _ = ioctl(client.socket, UInt(FIONREAD), &available)
      return sum + client.sent / Self.line.count - (client.received + Int(available)) / 2
    }
  }

  /// Reads answers until none is missing.
  func takeAnswers() throws {
    for index in clients.indices {
      while clients[index].received < clients[index].sent / Self.line.count * 2 {
        var ready = pollfd(fd: clients[index].socket, events: Int16(POLLIN), revents: 0)
        guard poll(&ready, 1, 60_000) == 1 else { throw SystemError("answers", code: ETIMEDOUT) }
        guard receive(index) > 0 else { throw SystemError("answers, of which some are missing", code: ECONNRESET) }
      }
    }
  }

  /// Sends and receives as fast as the daemon does, until every connection has ended.
  func flood() {
    var open = Set(clients.indices)
    while !open.isEmpty {
      for index in open {
        let count = receive(index)
        if count == 0 || count < 0 && errno != EAGAIN || send(index, atMost: 8192) < 0 && errno != EAGAIN {
          open.remove(index)
        }
      }
    }
  }

  private func receive(_ index: Int) -> Int {
    let count = recv(clients[index].socket, &buffer, buffer.count, Int32(MSG_DONTWAIT))
    clients[index].received += max(count, 0)
    return count
  }

  private func send(_ index: Int, atMost limit: Int) -> Int {
    let start = clients[index].sent % Self.line.count
    let count = text.withUnsafeBytes {
      Glibc.send(
        clients[index].socket, $0.baseAddress! + start, min(limit, text.count - start),
        Int32(Int(MSG_DONTWAIT) | Int(MSG_NOSIGNAL)))
    }
    clients[index].sent += max(count, 0)
    return count
  }
}

/// A client that sends a line and waits for the answer.
final class PoliteClient: @unchecked Sendable {
  private let socket: Int32

  /// Connects and waits for the greeting.
  init(port: UInt16) throws {
    socket = try connectedSocket(to: port)
    _ = try readLine(from: socket)
  }

  deinit { close(socket) }

  /// Sends a line.
  func ask() throws {
    guard Glibc.send(socket, "x y\n", 4, Int32(MSG_NOSIGNAL)) == 4 else { throw SystemError("send") }
  }

  /// Waits for the answer.
  func answer() throws -> String { try readLine(from: socket) }
}

/// Connects within ten seconds: a listening socket that is full would let it try for minutes.
private func connectedSocket(to port: UInt16) throws -> Int32 {
  let flags = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
  let descriptor = socket(AF_INET, flags, 0)
  guard descriptor >= 0 else { throw SystemError("socket") }
  let result = withLoopback(port) { connect(descriptor, $0, $1) }
  var ready = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
  guard result == 0 || errno == EINPROGRESS && poll(&ready, 1, 10_000) == 1 && ready.revents == Int16(POLLOUT) else {
    close(descriptor)
    throw SystemError("connect", code: ETIMEDOUT)
  }
  return descriptor
}

/// The next line, without its end; nothing comes after it.
private func readLine(from socket: Int32) throws -> String {
  var line: [UInt8] = []
  while line.last != 0x0A {
    var ready = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
    var byte: UInt8 = 0
    guard poll(&ready, 1, 60_000) == 1 else { throw SystemError("a line", code: ETIMEDOUT) }
    guard recv(socket, &byte, 1, 0) == 1 else { throw SystemError("a line", code: ECONNRESET) }
    line.append(byte)
  }
  return String(decoding: line.dropLast(), as: UTF8.self)
}
