import Glibc
import NIOCoreStandIn
import ProbeSupport
import Synchronization

/// A client that sends lines, each of which is sent back.
///
/// Asked to finish, it is served up to the end of the line that has begun.
///
/// One that is dropped without a run traps: with `--channels` the double of NIO's channel does, else the client itself.
final class LineClient: Sendable {
  private static let served = Atomic(0)
  private static let closed = Atomic(0)
  private static let wrapsChannels = CommandLine.arguments.contains("--channels")

  /// How many clients have had a run, and how many of these have been closed by it.
  static var counts: String {
    "served \(served.load(ordering: .sequentiallyConsistent)), closed \(closed.load(ordering: .sequentiallyConsistent))"
  }

  let name: String
  private let connection: Connection
  private let channel: NIOAsyncChannel<String, String>?

  init(_ name: String, _ connection: Connection) {
    (self.name, self.connection) = (name, connection)
    channel =
      Self.wrapsChannels
      ? NIOAsyncChannel(wrapping: connection, inbound: connection.lines) { connection.send($0) } : nil
  }

  deinit { precondition(channel != nil || !connection.isActive, "the client \(name) was dropped without a run") }

  func serve() async {
    Self.served.add(1, ordering: .sequentiallyConsistent)
    if let channel {
      // A client that has gone meanwhile has no need of its line.
      try? await channel.executeThenClose { inbound, outbound in
        for try await line in inbound { try await outbound.write(line) }
      }
    } else {
      for await line in connection.lines { connection.send(line) }
      connection.close()
    }
    Self.closed.add(1, ordering: .sequentiallyConsistent)
  }

  func finishLine() { connection.finishLine() }
}

/// A client's socket.
///
/// A thread reads lines until the client has ended, or must finish and no line has begun.
final class Connection: Sendable {
  let lines: AsyncStream<String>
  private let continuation: AsyncStream<String>.Continuation
  private let socket: Int32
  /// Its write end is shut down when the client must finish.
  private let finish: (reader: Int32, writer: Int32)
  private let isOpen = Atomic(true)

  init(_ socket: Int32) {
    self.socket = socket
    (lines, continuation) = AsyncStream.makeStream(of: String.self)
    var ends: [Int32] = [0, 0]
    guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0 else { fatalError("no descriptor is left") }
    finish = (ends[0], ends[1])
    startThread { self.readLines() }
  }

  deinit { for descriptor in [socket, finish.reader, finish.writer] { Glibc.close(descriptor) } }

  func send(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    _ = Glibc.send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL))
  }

  func finishLine() { shutdown(finish.writer, Int32(SHUT_WR)) }

  private func readLines() {
    var line: [UInt8] = []
    var mustFinish = false
    while !mustFinish || !line.isEmpty {
      var waiting = [
        pollfd(fd: mustFinish ? -1 : finish.reader, events: Int16(POLLIN), revents: 0),
        pollfd(fd: socket, events: Int16(POLLIN), revents: 0),
      ]
      guard poll(&waiting, 2, -1) > 0 else { continue }
      if waiting[0].revents != 0 { mustFinish = true }
      guard waiting[1].revents != 0 else { continue }
      var byte: UInt8 = 0
      guard read(socket, &byte, 1) == 1 else {
        isOpen.store(false, ordering: .sequentiallyConsistent)
        break
      }
      if byte == UInt8(ascii: "\n") {
        continuation.yield(String(decoding: line, as: UTF8.self))
        line = []
      } else {
        line.append(byte)
      }
    }
    continuation.finish()
  }
}

extension Connection: Channel {
  var isActive: Bool { isOpen.load(ordering: .sequentiallyConsistent) }

  func close() {
    isOpen.store(false, ordering: .sequentiallyConsistent)
    shutdown(socket, Int32(SHUT_RDWR))
  }
}
