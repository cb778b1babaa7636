#if MQTT
  import Glibc
  import PseudoTerminal
  import Scheduling
  import TestTraits
  import Testing

  @testable import EventLink

  /// A broker of the test's own that accepts one connection, sends much to it, and then reads until the client has closed it.
  private final class TalkativeBroker: Sendable {
    struct Outcome: Sendable {
      var bytes: [UInt8] = []
      /// The error that ended the connection; 0 for an end in order.
      var error: Int32 = 0
    }

    let port: UInt16
    private let reserved: ReservedPort
    private let outcome = Guarded<Outcome?>(nil)
    private let isOver = OneShot<Bool>()

    /// Listens; it sends so many messages of about 1,000 bytes.
    init(messages: Int) throws {
      reserved = try ReservedPort()
      port = reserved.port
      let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
      var yes: Int32 = 1
      setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
      guard withLoopback(port, { bind(listener, $0, $1) }) == 0, listen(listener, 1) == 0 else {
        throw SystemError("listen")
      }
      startThread { [self] in
        let connection = accept(listener, nil, nil)
        close(listener)
        let outcome = Self.serve(connection, messages)
        close(connection)
        self.outcome.withLock { $0 = outcome }
        isOver.settle(true)
      }
    }

    private static func serve(_ connection: Int32, _ messages: Int) -> Outcome {
      let message: [UInt8] = [0x30, 0xE8, 0x07, 0, 1, 0x74] + Array(repeating: 0x78, count: 997)
      var bytes: [UInt8] = [0x20, 2, 0, 0]
      for _ in 0..<messages { bytes += message }
      var outcome = Outcome()
      var sent = 0
      while sent < bytes.count {
        let count = bytes.withUnsafeBytes {
          send(connection, $0.baseAddress! + sent, bytes.count - sent, Int32(MSG_NOSIGNAL))
        }
        guard count > 0 else {
          outcome.error = errno
          return outcome
        }
        sent += count
      }
      var buffer = [UInt8](repeating: 0, count: 4_096)
      while true {
        let count = read(connection, &buffer, buffer.count)
        guard count > 0 else {
          if count < 0 { outcome.error = errno }
          return outcome
        }
        outcome.bytes += buffer[..<count]
      }
    }

    func end() async -> Outcome? {
      _ = await isOver.value
      return outcome.withLock { $0 }
    }
  }

  @Suite(.timeLimit(.hang)) struct `An end in order` {
    /// A socket that is closed with unread bytes resets its connection: the broker may then lose the last messages, and send
    /// the will.
    @Test func `leaves nothing unread that could reset the connection`() async throws {
      let broker = try TalkativeBroker(messages: 8_000)
      // The broker answers no ping, and the task may have to wait for a thread.
      let transport = MQTTTransport(
        "127.0.0.1", Int(broker.port), keepAlive: .seconds(600), patience: .seconds(60), farewell: .seconds(60))
      try await transport.connect(will: nil) { _ in }
      transport.publish(LinkMessage(topic: "last", payload: [1], quality: .atMostOnce), number: 1)
      await transport.disconnect()
      let outcome = await broker.end()
      #expect(outcome?.error == 0)
      // The message, and the end of the connection in MQTT.
      #expect(outcome?.bytes.suffix(11) == [0x30, 7, 0, 4, 0x6C, 0x61, 0x73, 0x74, 1, 0xE0, 0])
    }
  }
#endif
