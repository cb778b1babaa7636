import AppLifecycleTesting
import PubSub
import TestTraits
import Testing

@Suite(.timeLimit(.hang)) struct `Waiting for handlers` {
  @Test func `Rule 16: the report names each subscriber, its outcome and how long it took`() async throws {
    try await withSimulation { clock in
      let bus = EventBus(clock: clock)
      let failures = Log<EventBus.HandlerFailure>()
      let line = #line
      let subscriptions = [
        bus.subscribe(to: Tick.self) { _ in },
        bus.subscribe(to: Tick.self, label: "sync fails") { (_: Tick) throws -> Void in throw Failure(number: 1) },
        bus.receive(Tick.self, label: "slow") { (_: Tick) async throws in try await clock.sleep(for: .seconds(2))
        },
        bus.receive(Tick.self, label: "async fails") { (_: Tick) async throws in
          try await clock.sleep(for: .seconds(1))
          throw Failure(number: 2)
        },
        bus.subscribe(to: EventBus.HandlerFailure.self) { failures.add($0) },
      ]
      let sequence = bus.events(Tick.self, label: "sequence")
      let report = await clock.running { await bus.postAndWait(Tick()) }
      withExtendedLifetime((subscriptions, sequence)) {}
      #expect(report.deliveries[0].subscriber.description.hasSuffix("WaitingTests.swift:\(line + 2)"))
      #expect(
        report.lines.dropFirst() == [
          "sync fails threw Failure(number: 1) after 0.0 seconds", "slow delivered after 2.0 seconds",
          "async fails threw Failure(number: 2) after 1.0 seconds", "sequence delivered after 0.0 seconds",
        ])
      #expect(report.failures.map(\.subscriber.label) == ["sync fails", "async fails"])
      #expect(report.stragglers.isEmpty)
      #expect(failures.all.map(\.subscriber.label) == ["sync fails", "async fails"], "posted all the same")
      #expect(!failures.all.contains { !$0.hasRecipient })
      try #require(clock.sleepers == 0)
    }
  }

  @Test func `Rule 16: a post without subscribers, or to owners that are gone, has an empty report`() async {
    let bus = EventBus()
    var owner: Thing? = Thing()
    bus.receive(Tick.self, for: owner!) { (_, _) async in }
    owner = nil
    #expect(owner == nil)
    #expect(await bus.postAndWait(Tick(), within: .seconds(1)).deliveries.isEmpty)
    #expect(await bus.postAndWait(Tock()).deliveries.isEmpty)
  }

  @MainActor @Test
  func `Rule 16: a main-actor event is waited for, and its synchronous handlers stay on the main actor`()
    async
  {
    let bus = EventBus()
    var numbers: [Int] = []
    let subscriptions = [
      bus.subscribe(to: Shown.self) { numbers.append($0.number) },
      bus.receive(Shown.self, priority: .high) { (shown: Shown) async in
        await Task.yield()
        numbers.append(-shown.number)
      },
    ]
    // Bounds a hang alone: other tests may keep the main actor for long.
    let report = await bus.postAndWait(Shown(number: 1), within: .seconds(600))
    withExtendedLifetime(subscriptions) {}
    #expect(numbers == [-1, 1])
    #expect(report.deliveries.count == 2)
  }

  @Test func `Rule 16: the next sees what was posted before, and a cancelled subscriber is named`() async throws {
    try await withSimulation { clock in
      let bus = EventBus(clock: clock)
      let (gate, log) = (Gate(), Log<Int>())
      let subscription = bus.receive(Tick.self, label: "busy") { (tick: Tick) async in
        log.add(tick.number)
        await gate.wait()
      }
      let second = bus.subscribe(to: Tick.self, priority: .low, label: "never reached") { _ in log.add(-1) }
      for number in 1...3 { bus.post(Tick(number: number)) }
      async let report = bus.postAndWait(Tick(number: 4))
      await clock.settle()
      subscription.cancel()
      second.cancel()
      #expect(await report.lines == ["busy cancelled after 0.0 seconds"], "the other was gone before its turn")
      #expect(log.all == [-1, -1, -1, 1], "the handler that runs has not ended: no post waited for it")
      gate.open()
      await subscription.cancelAndDrain()
      #expect(log.all == [-1, -1, -1, 1], "what was held has been dropped")
    }
  }

  @Test(arguments: [false, true])
  func `Rule 17: priorities run one after another, asynchronous handlers of one side by side`(reversed: Bool)
    async throws
  {
    try await withSimulation { clock in
      let bus = EventBus(clock: clock)
      let log = Log<String>()
      @Sendable func handle(_ name: String, for seconds: Int) async {
        log.add("\(name) begins at \(clock.now.offset)")
        try? await clock.sleep(for: .seconds(seconds))
        log.add("\(name) ends at \(clock.now.offset)")
      }
      func subscribe<E: BusEvent>(_ type: E.Type) -> [EventBus.Subscription] {
        [
          bus.subscribe(to: E.self, priority: .low) { _ in log.add("low at \(clock.now.offset)") },
          bus.receive(E.self) { (_: E) async in await handle("one", for: 2) },
          bus.subscribe(to: E.self) { _ in log.add("normal at \(clock.now.offset)") },
          bus.receive(E.self) { (_: E) async in await handle("two", for: 1) },
          bus.receive(E.self, priority: .high) { (_: E) async in await handle("high", for: 1) },
        ]
      }
      let subscriptions = subscribe(Tick.self) + subscribe(TearDown.self)
      await clock.running {
        if reversed { _ = await bus.postAndWait(TearDown()) } else { _ = await bus.postAndWait(Tick()) }
      }
      withExtendedLifetime(subscriptions) {}
      let expected =
        reversed
        ? [
          "low at 0.0 seconds", "normal at 0.0 seconds", "two begins at 0.0 seconds", "one begins at 0.0 seconds",
          "two ends at 1.0 seconds", "one ends at 2.0 seconds", "high begins at 2.0 seconds",
          "high ends at 3.0 seconds",
        ]
        : [
          "high begins at 0.0 seconds", "high ends at 1.0 seconds", "normal at 1.0 seconds",
          "one begins at 1.0 seconds",
          "two begins at 1.0 seconds", "two ends at 2.0 seconds", "one ends at 3.0 seconds", "low at 3.0 seconds",
        ]
      #expect(log.all == expected)
    }
  }

  @Test func `Rule 17: at the deadline the running are cancelled, the queued removed, all are named, and it returns`()
    async throws
  {
    try await withSimulation { clock in
      let bus = EventBus(clock: clock)
      let (gate, log) = (Gate(), Log<String>())
      let subscriptions = [
        bus.receive(Tick.self, label: "deaf") { (tick: Tick) async in
          log.add("deaf \(tick.number)")
          await gate.wait()
          log.add("deaf \(tick.number) was \(Task.isCancelled ? "" : "not ")cancelled")
        },
        bus.receive(Tick.self, label: "listening") { (tick: Tick) async throws in
          if tick.number == 1 { try await clock.sleep(for: .seconds(60)) }
          log.add("listening \(tick.number)")
        },
        bus.receive(Tick.self, label: "quick") { (tick: Tick) async in log.add("quick \(tick.number)") },
        bus.subscribe(to: Tick.self, priority: .low, label: "late") { tick in log.add("late \(tick.number)") },
      ]
      let first = await clock.running { await bus.postAndWait(Tick(number: 1), within: .seconds(5)) }
      #expect(
        first.lines == [
          "deaf timed out after 5.0 seconds", "listening timed out after 5.0 seconds",
          "quick delivered after 0.0 seconds",
          "late timed out after 0.0 seconds",
        ])
      #expect(first.stragglers.map(\.subscriber.label) == ["deaf", "listening", "late"])
      let second = await clock.running { await bus.postAndWait(Tick(number: 2), within: .seconds(3)) }
      #expect(
        second.lines == [
          "deaf timed out after 3.0 seconds", "listening delivered after 0.0 seconds",
          "quick delivered after 0.0 seconds",
          "late timed out after 0.0 seconds",
        ], "a straggler keeps only its own mailbox busy")
      bus.post(Tick(number: 3))
      gate.open()
      await clock.settle()
      withExtendedLifetime(subscriptions) {}
      #expect(
        log.all.filter { $0.hasPrefix("deaf") } == [
          "deaf 1", "deaf 1 was cancelled", "deaf 3", "deaf 3 was not cancelled",
        ], "what was removed never comes, and a cancelled run goes on in a fresh task")
      #expect(log.all.filter { $0.hasPrefix("listening") } == ["listening 2", "listening 3"])
      #expect(clock.sleepers == 0)
    }
  }

  @Test(arguments: [Duration.zero, .seconds(-1), .seconds(Int64.min)])
  func `Rule 17: a budget of zero or less has passed when the post begins`(budget: Duration) async throws {
    try await withSimulation { clock in
      let bus = EventBus(clock: clock)
      let log = Log<String>()
      let subscriptions = [
        bus.subscribe(to: Tick.self, label: "sync") { _ in log.add("sync") },
        bus.receive(Tick.self, label: "async") { (_: Tick) async in log.add("async") },
      ]
      let report = await bus.postAndWait(Tick(), within: budget)
      await clock.settle()
      withExtendedLifetime(subscriptions) {}
      #expect(report.lines == ["sync timed out after 0.0 seconds", "async timed out after 0.0 seconds"])
      #expect(log.all.isEmpty)
    }
  }

  @Test func `Rule 17: immense budgets are as good as none`() async {
    let bus = EventBus()
    let subscription = bus.receive(Tick.self) { (_: Tick) async in }
    for clock in [nil, ContinuousClock(), SuspendingClock()] as [(any Clock<Duration>)?] {
      let report = await bus.postAndWait(Tick(), within: .seconds(Int64.max), clock: clock)
      #expect(report.deliveries.map(\.outcome.description) == ["delivered"])
    }
    withExtendedLifetime(subscription) {}
  }

  @Test func `Rule 17: another clock than the bus's may measure`() async throws {
    try await withSimulation { clock in
      let bus = EventBus()
      let end = Gate()
      let subscription = bus.receive(Tick.self, label: "deaf") { (_: Tick) async in await end.wait() }
      let report = await clock.running { await bus.postAndWait(Tick(), within: .seconds(5), clock: clock) }
      withExtendedLifetime(subscription) {}
      #expect(report.lines == ["deaf timed out after 5.0 seconds"])
      end.open()
    }
  }

  @Test func `Rule 17: cancelling the caller cancels the handlers that it waits for, and the deadline still bounds`()
    async throws
  {
    try await withSimulation { clock in
      let bus = EventBus(clock: clock)
      let log = Log<String>()
      let end = Gate()
      let subscriptions = [
        bus.receive(Tick.self, label: "listening") { (_: Tick) async throws in
          try await clock.sleep(for: .seconds(60))
        },
        bus.receive(Tick.self, label: "deaf") { (_: Tick) async in await end.wait() },
        bus.receive(Tock.self, label: "first") { (_: Tock) async throws in
          try await clock.sleep(for: .seconds(60))
        },
        bus.receive(Tock.self, priority: .low, label: "second") { (_: Tock) async in
          log.add(Task.isCancelled ? "cancelled from the start" : "not cancelled")
        },
      ]
      try await withThrowingTaskGroup { group in
        group.addTask {
          let report = await bus.postAndWait(Tick(), within: .seconds(5))
          #expect(
            report.lines == [
              "listening threw CancellationError() after 1.0 seconds", "deaf timed out after 5.0 seconds",
            ])
        }
        group.addTask {
          let report = await bus.postAndWait(Tock())
          #expect(
            report.lines == [
              "first threw CancellationError() after 1.0 seconds", "second delivered after 0.0 seconds",
            ])
        }
        try await clock.advance(by: .seconds(1))
        group.cancelAll()
        try await clock.advance(by: .seconds(10))
      }
      #expect(log.all == ["cancelled from the start"])
      bus.post(Tock())
      await clock.settle()
      try await clock.run()
      #expect(log.all == ["cancelled from the start", "not cancelled"])
      withExtendedLifetime(subscriptions) {}
      // A handler that never ended would keep all that it holds.
      end.open()
      await clock.settle()
    }
  }

  @Test func `Rule 17: deadlines share one sleeper, and leave nothing behind`() async throws {
    try await withSimulation { clock in
      let bus = EventBus(clock: clock)
      let gate = Gate()
      let subscription = bus.receive(Tick.self) { (_: Tick) async in await gate.wait() }
      await withTaskGroup { group in
        for number in 1...50 {
          group.addTask { _ = await bus.postAndWait(Tick(number: number), within: .seconds(100 - number)) }
        }
        await clock.settle()
        #expect(clock.sleepers == 1)
        #expect(clock.nextDeadline?.offset == .seconds(50))
        gate.open()
      }
      await clock.settle()
      #expect(clock.sleepers == 0)
      withExtendedLifetime(subscription) {}
    }
  }

  @Test func `Rule 18: an error that comes after the deadline is posted, unless it only tells of the cancelling`()
    async throws
  {
    try await withSimulation { clock in
      let bus = EventBus(clock: clock)
      let (log, gate) = (Log<String>(), Gate())
      let subscriptions = [
        bus.subscribe(to: EventBus.HandlerFailure.self) { log.add("\($0.subscriber) \($0.eventName) \($0.error)") },
        bus.receive(Tick.self, label: "cancelled") { (_: Tick) async throws in
          try await clock.sleep(for: .seconds(60))
        },
        bus.receive(Tick.self, label: "fails late") { (_: Tick) async throws in
          await gate.wait()
          throw Failure(number: 3)
        },
      ]
      _ = await clock.running { await bus.postAndWait(Tick(), within: .seconds(1)) }
      gate.open()
      await clock.settle()
      withExtendedLifetime(subscriptions) {}
      #expect(log.all == ["fails late Tick Failure(number: 3)"])
    }
  }
}

extension DeliveryReport {
  /// Each delivery as a line.
  var lines: [String] { deliveries.map { "\($0.subscriber) \($0.outcome) after \($0.duration)" } }
}
