#if MQTT
  import AppLifecycle
  import Dispatch
  import Glibc
  import PseudoTerminal
  import PubSub
  import Scheduling
  import TestTraits
  import Testing

  @testable import EventLink

  /// What the thread of a connection does beside reading.
  @Suite(.timeLimit(.hang), .enabled(if: Broker.obstacle == nil, "\(Broker.obstacle ?? "")"))
  struct `The thread of a connection` {
    /// Something that a thread waits for, and blocks meanwhile.
    private struct Latch: Sendable {
      private let semaphore = DispatchSemaphore(value: 0)
      func open() { semaphore.signal() }
      func wait() { semaphore.wait() }
    }

    private static func start(_ body: @escaping @Sendable () -> Void) {
      Task.detached(executorPreference: ReadingThreadExecutor.shared) { body() }
    }

    private static var thread: UInt { pthread_self() }

    /// Calls `body` with a transport that hears what it publishes on `echo`; its own limits never pass.
    private func withTransport(
      lookInterval: Duration, _ receive: @escaping @Sendable (UInt8) -> Void,
      _ body: (MQTTTransport) async throws -> Void
    ) async throws {
      try await withTemporaryDirectory { directory in
        let broker = try Broker(in: directory)
        let child = try await broker.start()
        let transport = MQTTTransport(
          "127.0.0.1", Int(broker.port), keepAlive: .seconds(600), patience: .seconds(60), farewell: .seconds(60),
          lookInterval: lookInterval)
        try await transport.connect(will: nil) { event in
          if case .received(let message) = event { receive(message.payload[0]) }
        }
        try await transport.subscribe(to: ["echo"], quality: .atMostOnce)
        try await body(transport)
        await transport.disconnect()
        await child.end()
      }
    }

    private func publish(_ byte: UInt8, _ transport: MQTTTransport) {
      transport.publish(LinkMessage(topic: "echo", payload: [byte], quality: .atMostOnce), number: UInt64(byte))
    }

    @Test func `runs a task that is started while it reads, and leaves a second one to the pool`() async throws {
      let (here, elsewhere) = (OneShot(), OneShot())
      let isReading = Guarded(false)
      try await withTransport(lookInterval: .seconds(600)) { _ in
        isReading.withLock { $0 = true }
        let reader = Self.thread
        Self.start { here.settle(Self.thread == reader && !isReading.withLock { $0 }) }
        Self.start { elsewhere.settle(Self.thread != reader) }
        isReading.withLock { $0 = false }
      } _: { transport in
        publish(1, transport)
        #expect(await here.value)
        #expect(await elsewhere.value)
      }
    }

    @Test func `is relieved if that task takes long`() async throws {
      let (hasBegun, second) = (OneShot(), Latch())
      let threads = Guarded<[UInt]>([])
      let hasEnded = OneShot()
      try await withTransport(lookInterval: .milliseconds(10)) { byte in
        Self.start {
          threads.withLock { $0.append(Self.thread) }
          if byte == 2 { return second.open() }
          hasBegun.settle(true)
          second.wait()
          hasEnded.settle(true)
        }
      } _: { transport in
        publish(1, transport)
        #expect(await hasBegun.value)
        publish(2, transport)
        #expect(await hasEnded.value)
        #expect(Set(threads.withLock { $0 }).count == 2)
      }
    }

    /// Counts what arrives.
    private final class CountingTransport: LinkTransport {
      let inner: MQTTTransport
      let count = Guarded(0)
      let (enough, isEnough) = (60, Latch())

      init(_ inner: MQTTTransport) { self.inner = inner }

      func connect(will: LinkMessage?, receive: @escaping @Sendable (LinkTransportEvent) -> Void) async throws {
        try await inner.connect(will: will) { [self] event in
          receive(event)
          guard case .received = event else { return }
          let count = count.withLock { count in
            count += 1
            return count
          }
          if count == enough { isEnough.open() }
        }
      }

      func subscribe(to filters: [String], quality: LinkQuality) async throws {
        try await inner.subscribe(to: filters, quality: quality)
      }

      func publish(_ message: LinkMessage, number: UInt64) -> Bool { inner.publish(message, number: number) }
      func disconnect() async { await inner.disconnect() }
    }

    /// Else a broker that has few messages in transit for a client would keep the rest, and lose what it does not keep.
    @Test @MainActor func `goes on reading and acknowledging while slow handlers have what came before`() async throws {
      try await withTemporaryDirectory { directory in
        let broker = try Broker(in: directory, ["max_inflight_messages 20"])
        let child = try await broker.start()
        func transport() -> MQTTTransport {
          MQTTTransport(
            "127.0.0.1", Int(broker.port), keepAlive: .seconds(600), patience: .seconds(60), farewell: .seconds(60),
            lookInterval: .milliseconds(10))
        }
        let (here, there) = (Application(delegate: Bare()), Application(delegate: Bare()))
        let counting = CountingTransport(transport())
        let sender = try EventLink(of: here, to: transport()) { link in
          try link.send(OrderPlaced.self, as: "orders", quality: .atLeastOnce)
        }
        let receiver = try EventLink(of: there, to: counting) { link in
          try link.receive(OrderPlaced.self, as: "orders")
        }
        try await sender.open()
        try await receiver.open()
        let numbers = Guarded<[Int]>([])
        let hasAll = OneShot()
        let subscription = there.bus.subscribe { (order: OrderPlaced) in
          switch order.id {
          case 2: counting.isEnough.wait()
          default: break
          }
          numbers.withLock { $0.append(order.id) }
          if order.id == 100 { hasAll.settle(true) }
        }
        for id in 1...100 { here.bus.post(OrderPlaced(id: id)) }
        #expect(await hasAll.value)
        #expect(numbers.withLock { $0 } == Array(1...100))
        await sender.close()
        await receiver.close()
        await child.end()
        withExtendedLifetime(subscription) {}
      }
    }

    @Test func `ends a connection in order although that task goes on`() async throws {
      let (hasBegun, end) = (OneShot(), Latch())
      try await withTransport(lookInterval: .seconds(600)) { _ in
        Self.start {
          hasBegun.settle(true)
          end.wait()
        }
      } _: { transport in
        publish(1, transport)
        #expect(await hasBegun.value)
        await transport.disconnect()
        end.open()
      }
    }
  }
#endif
