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

    /// Has a connection's thread call `body`: the one that calls, or that of a transport; or else a task.
    private static func start(preferring transport: MQTTTransport? = nil, _ body: @escaping @Sendable () -> Void) {
      if !ConnectionJob({ _ in body() }).start(preferring: transport?.present) { Task.detached { body() } }
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
      transport.flush()
    }

    @Test func `runs a task that is started while it reads, and leaves a second one to the pool`() async throws {
      let (here, elsewhere) = (OneShot<Bool>(), OneShot<Bool>())
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

    @Test func `begins a task that is started elsewhere, unless it has one`() async throws {
      let (reader, mayEnd) = (OneShot<UInt>(), Latch())
      let hasBegun = OneShot<UInt>()
      try await withTransport(lookInterval: .seconds(600)) { _ in
        reader.settle(Self.thread)
      } _: { transport in
        publish(1, transport)
        let thread = await reader.value
        Self.start(preferring: transport) {
          hasBegun.settle(Self.thread)
          mayEnd.wait()
        }
        #expect(await hasBegun.value == thread)
        #expect(await Self.thread(preferring: transport) != thread)
        mayEnd.open()
      }
    }

    /// The thread on which a task begins.
    private static func thread(preferring transport: MQTTTransport) async -> UInt {
      let thread = OneShot<UInt>()
      start(preferring: transport) { thread.settle(Self.thread) }
      return await thread.value
    }

    @Test func `is relieved if that task takes long`() async throws {
      let (hasBegun, second) = (OneShot<Bool>(), Latch())
      let threads = Guarded<[UInt]>([])
      let hasEnded = OneShot<Bool>()
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

    /// Keeps the first events of a kind, and gives them all at once.
    ///
    /// So the task that they start on the connection's thread has more than one of them to do.
    private final class GatheringTransport: LinkTransport {
      private struct State {
        var count = 0
        var gathered: [LinkTransportEvent] = []
        /// The thread of the connection.
        var thread: UInt = 0
      }

      private let inner: MQTTTransport
      private let gathers: @Sendable (LinkTransportEvent) -> Bool
      private let state = Guarded(State())
      private let (most, enough, isEnough) = (10, 60, Latch())

      init(_ inner: MQTTTransport, gathers: @escaping @Sendable (LinkTransportEvent) -> Bool) {
        (self.inner, self.gathers) = (inner, gathers)
      }

      /// Whether the caller runs on the connection's thread.
      var isHere: Bool { state.withLock { $0.thread } == `The thread of a connection`.thread }

      /// Waits until more has come than a broker sends before it has answers.
      func waitForMore() { isEnough.wait() }

      func connect(will: LinkMessage?, receive: @escaping @Sendable (LinkTransportEvent) -> Void) async throws {
        try await inner.connect(will: will) { [self] event in
          guard gathers(event) else { return receive(event) }
          let (count, events) = state.withLock { state in
            state.thread = `The thread of a connection`.thread
            state.count += 1
            state.gathered.append(event)
            guard state.count >= most else { return (state.count, [LinkTransportEvent]()) }
            defer { state.gathered = [] }
            return (state.count, state.gathered)
          }
          for event in events { receive(event) }
          if count == enough { isEnough.open() }
        }
      }

      func subscribe(to filters: [String], quality: LinkQuality) async throws {
        try await inner.subscribe(to: filters, quality: quality)
      }

      func publish(_ message: LinkMessage, number: UInt64) -> Bool { inner.publish(message, number: number) }
      func flush() { inner.flush() }
      func disconnect() async { await inner.disconnect() }
    }

    /// A transport of which no other thread takes over.
    private static func transport(to broker: Broker) -> MQTTTransport {
      MQTTTransport(
        "127.0.0.1", Int(broker.port), keepAlive: .seconds(600), patience: .seconds(60), farewell: .seconds(60),
        lookInterval: .seconds(600))
    }

    /// Longer than handlers may have of the thread.
    private static func takeLong() { usleep(5_000) }

    /// Else a broker that has few messages in transit for a client would keep the rest, and lose what it does not keep.
    @Test @MainActor func `goes on reading and acknowledging while slow handlers have what came before`() async throws {
      try await withTemporaryDirectory { directory in
        let broker = try Broker(in: directory, ["max_inflight_messages 20"])
        let child = try await broker.start()
        let (here, there) = (Application(delegate: Bare()), Application(delegate: Bare()))
        let gathering = GatheringTransport(Self.transport(to: broker)) {
          if case .received = $0 { true } else { false }
        }
        let sender = try EventLink(of: here, to: Self.transport(to: broker)) { link in
          try link.send(OrderPlaced.self, as: "orders", quality: .atLeastOnce)
        }
        let receiver = try EventLink(of: there, to: gathering) { link in
          try link.receive(OrderPlaced.self, as: "orders")
        }
        try await sender.open()
        try await receiver.open()
        let numbers = Guarded<[Int]>([])
        let (hasLeft, hasAll) = (OneShot<Bool>(), OneShot<Bool>())
        let subscription = there.bus.subscribe { (order: OrderPlaced) in
          switch order.id {
          case 1: Self.takeLong()
          case 2:
            hasLeft.settle(!gathering.isHere)
            // On the connection's thread, it would wait for that.
            if !gathering.isHere { gathering.waitForMore() }
          default: break
          }
          numbers.withLock { $0.append(order.id) }
          if order.id == 100 { hasAll.settle(true) }
        }
        for id in 1...100 { here.bus.post(OrderPlaced(id: id)) }
        #expect(await hasLeft.value)
        #expect(await hasAll.value)
        #expect(numbers.withLock { $0 } == Array(1...100))
        await sender.close()
        await receiver.close()
        await child.end()
        withExtendedLifetime(subscription) {}
      }
    }

    @Test @MainActor func `is left within a row of acknowledgements whose handlers take long`() async throws {
      try await withTemporaryDirectory { directory in
        let broker = try Broker(in: directory)
        let child = try await broker.start()
        let application = Application(delegate: Bare())
        let gathering = GatheringTransport(Self.transport(to: broker)) {
          if case .acknowledged = $0 { true } else { false }
        }
        let link = try EventLink(of: application, to: gathering) { link in
          try link.send(OrderPlaced.self, as: "orders", quality: .atLeastOnce)
          try link.send(OrderPlaced.self, as: "copies", quality: .atLeastOnce)
        }
        try await link.open()
        let hasLeft = OneShot<Bool>()
        // A row has one report for each topic.
        let subscription = application.bus.subscribe { (report: EventLink.DidAcknowledge) in
          if report.topic == "orders" { Self.takeLong() } else { hasLeft.settle(!gathering.isHere) }
        }
        for id in 1...5 { application.bus.post(OrderPlaced(id: id)) }
        #expect(await hasLeft.value)
        await link.close()
        await child.end()
        withExtendedLifetime(subscription) {}
      }
    }

    private static var blocksPipe: Bool {
      var blocked = sigset_t()
      pthread_sigmask(SIG_BLOCK, nil, &blocked)
      return sigismember(&blocked, SIGPIPE) == 1
    }

    /// The library's writes must not end the process; a program's writes do, where it does not ignore the signal.
    @Test func `blocks SIGPIPE until a job comes to the code of the program`() async throws {
      let found = Guarded<[Bool]>([])
      let hasEnded = OneShot<Bool>()
      try await withTransport(lookInterval: .seconds(600)) { byte in
        Self.start {
          found.withLock { $0.append(Self.blocksPipe) }
          ConnectionJob.enterProgram()
          found.withLock { $0.append(Self.blocksPipe) }
          if byte == 2 { hasEnded.settle(true) }
        }
      } _: { transport in
        publish(1, transport)
        publish(2, transport)
        #expect(await hasEnded.value)
        #expect(found.withLock { $0 } == [true, false, true, false])
      }
    }

    @Test @MainActor func `calls handlers of events and reports with SIGPIPE as it is elsewhere`() async throws {
      try await withTemporaryDirectory { directory in
        let broker = try Broker(in: directory)
        let child = try await broker.start()
        let application = Application(delegate: Bare())
        let other = Application(delegate: Bare())
        let sender = try EventLink(of: application, to: Self.transport(to: broker)) { link in
          try link.send(OrderPlaced.self, as: "orders", quality: .atLeastOnce)
        }
        let receiver = try EventLink(of: other, to: Self.transport(to: broker)) { link in
          try link.receive(OrderPlaced.self, as: "orders")
        }
        try await sender.open()
        try await receiver.open()
        let (event, report) = (OneShot<Bool>(), OneShot<Bool>())
        let subscriptions = [
          other.bus.subscribe { (_: OrderPlaced) in event.settle(Self.blocksPipe) },
          application.bus.subscribe { (_: EventLink.DidAcknowledge) in report.settle(Self.blocksPipe) },
        ]
        application.bus.post(OrderPlaced(id: 1))
        #expect(await !event.value)
        #expect(await !report.value)
        await sender.close()
        await receiver.close()
        await child.end()
        withExtendedLifetime(subscriptions) {}
      }
    }

    @Test func `ends a connection in order although that task goes on`() async throws {
      let (hasBegun, end) = (OneShot<Bool>(), Latch())
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
