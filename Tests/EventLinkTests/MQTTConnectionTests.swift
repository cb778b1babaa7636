#if MQTT
  import Dispatch
  import Glibc
  import PseudoTerminal
  import Scheduling
  import TestTraits
  import Testing

  @testable import EventLink

  /// A broker of a test's own for one connection, which a thread of it serves.
  private final class HandmadeBroker: Sendable {
    let port: UInt16
    private let reserved: ReservedPort

    /// Listens; it accepts a connection of MQTT, sends more bytes, and calls `serve` with the socket.
    init(sending more: [UInt8] = [], _ serve: @escaping @Sendable (Int32) -> Void) throws {
      reserved = try ReservedPort()
      port = reserved.port
      let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
      var yes: Int32 = 1
      setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
      guard withLoopback(port, { bind(listener, $0, $1) }) == 0, listen(listener, 1) == 0 else {
        throw SystemError("listen")
      }
      startThread {
        let connection = accept(listener, nil, nil)
        close(listener)
        let bytes = [0x20, 2, 0, 0] + more
        _ = bytes.withUnsafeBytes { send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        serve(connection)
        close(connection)
      }
    }

    /// The sockets of this process that are connected to the broker.
    var peers: [Int32] {
      ((try? fileNames(in: "/proc/self/fd")) ?? []).compactMap { Int32($0) }.filter { descriptor in
        withLoopback(0) { address, length in
          var length = length
          guard getpeername(descriptor, address, &length) == 0, address.pointee.sa_family == AF_INET else {
            return false
          }
          return UnsafeRawPointer(address).load(as: sockaddr_in.self).sin_port.byteSwapped == port
        }
      }
    }

    /// Reads until the client closes the connection, and returns the bytes.
    @discardableResult static func readAll(_ connection: Int32) -> [UInt8] {
      var (bytes, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 4_096))
      while case let count = read(connection, &buffer, buffer.count), count > 0 { bytes += buffer[..<count] }
      return bytes
    }
  }

  @Suite(.timeLimit(.hang)) struct `A connection of MQTT` {
    private func transport(_ broker: HandmadeBroker) -> MQTTTransport {
      MQTTTransport(
        "127.0.0.1", Int(broker.port), keepAlive: .seconds(600), patience: .seconds(60), farewell: .seconds(60),
        lookInterval: .seconds(600))
    }

    /// Else an answer of two events would take 40 ms, in which the broker's system delays its acknowledgement.
    @Test func `writes each segment at once`() async throws {
      let broker = try HandmadeBroker { HandmadeBroker.readAll($0) }
      let transport = transport(broker)
      try await transport.connect(will: nil) { _ in }
      let peer = try #require(broker.peers.first)
      var (isSet, length): (Int32, socklen_t) = (0, socklen_t(MemoryLayout<Int32>.size))
      #expect(getsockopt(peer, Int32(IPPROTO_TCP), TCP_NODELAY, &isSet, &length) == 0 && isSet != 0)
      await transport.disconnect()
    }

    @Test func `asks for no longer keep-alive than MQTT knows`() async throws {
      let bytes = Guarded<[UInt8]>([])
      let isOver = OneShot<Bool>()
      let broker = try HandmadeBroker { connection in
        bytes.withLock { $0 = HandmadeBroker.readAll(connection) }
        isOver.settle(true)
      }
      let transport = MQTTTransport(
        host: "127.0.0.1", port: Int(broker.port), keepAlive: .seconds(100_000), patience: .seconds(60))
      try await transport.connect(will: nil) { _ in }
      await transport.disconnect()
      #expect(await isOver.value)
      #expect(bytes.withLock { $0.dropFirst(10).prefix(2) } == [0xFF, 0xFF])
    }

    @Test func `takes no job once it has ended`() async throws {
      let broker = try HandmadeBroker { _ in }
      let transport = transport(broker)
      let hasEnded = OneShot<Bool>()
      // The broker may end it before `connect` returns.
      try? await transport.connect(will: nil) { if case .closed = $0 { hasEnded.settle(true) } }
      #expect(await hasEnded.value)
      let job = ConnectionJob { _ in Issue.record("the job is run") }
      #expect(!job.start(preferring: transport.present))
    }

    @Test func `says with which error it ended, also if a publisher met it`() async throws {
      let (hasBegun, mayReset, mayGoOn) = (OneShot<Bool>(), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      let broker = try HandmadeBroker(sending: [0x30, 4, 0, 1, 0x74, 0x78]) { connection in
        mayReset.wait()
        var linger = linger(l_onoff: 1, l_linger: 0)
        setsockopt(connection, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
      }
      let transport = transport(broker)
      let reason = Guarded("")
      let hasEnded = OneShot<Bool>()
      try await transport.connect(will: nil) { event in
        switch event {
        case .received:
          // The thread of the connection runs this, and does not look at the socket meanwhile.
          let job = ConnectionJob { _ in
            hasBegun.settle(true)
            mayGoOn.wait()
          }
          #expect(job.start(preferring: nil))
        case .acknowledged: break
        case .closed(let text):
          reason.withLock { $0 = text }
          hasEnded.settle(true)
        }
      }
      #expect(await hasBegun.value)
      var peer = pollfd(fd: try #require(broker.peers.first), events: 0, revents: 0)
      mayReset.signal()
      #expect(poll(&peer, 1, -1) == 1)
      transport.publish(LinkMessage(topic: "t", payload: [1], quality: .atMostOnce), number: 1)
      transport.flush()
      mayGoOn.signal()
      #expect(await hasEnded.value)
      #expect(reason.withLock { $0 } == "The connection was lost.")
    }
  }
#endif
