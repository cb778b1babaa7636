import AppLifecycleTesting
import PubSub
import Scheduling
import TestTraits
import Testing

/// Random programs over the asynchronous half of the bus, in a world whose order of events is drawn from a seed.
@Suite(.timeLimit(.hang)) struct `Interleavings` {
  private static let seeds: Range<UInt64> = 0..<300

  /// What one handler saw; each number carries its poster in the thousands.
  private final class Witness: Sendable {
    private let state = Guarded<(numbers: [Int], missed: Int, isRunning: Bool, overlaps: Int)>(([], 0, false, 0))
    var numbers: [Int] { state.withLock { $0.numbers } }
    var missed: Int { state.withLock { $0.missed } }
    var overlaps: Int { state.withLock { $0.overlaps } }

    func begin(_ received: EventBus.Received<Tick>) {
      state.withLock { state in
        if state.isRunning { state.overlaps += 1 }
        state.isRunning = true
        switch received {
        case .event(let tick): state.numbers.append(tick.number)
        case .missed(let count): state.missed += count
        }
      }
    }
    func end() { state.withLock { $0.isRunning = false } }
  }

  private static func handle(_ received: EventBus.Received<Tick>, _ witness: Witness, _ clock: ManualClock) async {
    witness.begin(received)
    switch received {
    case .event(let tick) where tick.number % 7 == 0: try? await clock.sleep(for: .milliseconds(tick.number % 5))
    case .event(let tick) where tick.number % 3 == 0: await Task.yield()
    default: break
    }
    witness.end()
  }

  @Test(arguments: [EventBus.Buffering.unbounded, .bounded(3, dropping: .oldest), .bounded(3, dropping: .newest)])
  func `Rules 3, 10 and 14: none lost untold, none doubled, in order, one run at a time`(buffering: EventBus.Buffering)
    async throws
  {
    for seed in Self.seeds {
      try await withSimulation(order: .seeded(seed)) { clock in
        let bus = EventBus(clock: clock)
        let witness = Witness()
        let subscription = bus.receive(Tick.self, buffering: buffering) { tick in
          await Self.handle(.event(tick), witness, clock)
        } missed: { count in
          await Self.handle(.missed(count), witness, clock)
        }
        let delivered = Log<Int>()
        let removed = Log<Int>()
        try await withThrowingTaskGroup { group in
          for poster in 1...3 {
            group.addTask {
              var random = SplitMix64(seed: seed &* 31 &+ UInt64(poster))
              for index in 0..<20 {
                let number = poster * 1000 + index
                switch Int.random(in: 0..<8, using: &random) {
                case 0:
                  await bus.postAndWait(Tick(number: number))
                  delivered.add(number)
                case 1:
                  let report = await bus.postAndWait(Tick(number: number), within: .milliseconds(2))
                  if report.stragglers.isEmpty { delivered.add(number) } else { removed.add(number) }
                case 2:
                  bus.post(Tick(number: number))
                  await Task.yield()
                default: bus.post(Tick(number: number))
                }
              }
            }
          }
          group.addTask { try await clock.run() }
          while try await group.next() != nil { try await clock.run() }
        }
        try await clock.run()
        let numbers = witness.numbers
        #expect(Set(numbers).count == numbers.count, "doubled; seed \(seed)")
        for poster in 1...3 {
          let own = numbers.filter { $0 / 1000 == poster }
          #expect(own == own.sorted(), "out of order; seed \(seed)")
        }
        #expect(Set(delivered.all).isSubset(of: numbers), "lost although waited for; seed \(seed)")
        let absent = 60 - numbers.count - witness.missed
        // What a deadline removed was not handled; a handler that it only cut short was.
        let untouched = removed.all.count { !numbers.contains($0) }
        #expect(absent == untouched, "lost; seed \(seed)")
        #expect(witness.overlaps == 0, "seed \(seed)")
        await subscription.cancelAndDrain()
      }
    }
  }

  @Test func `Rule 14: the loss that is told is the loss there was, at every place`() async throws {
    for seed in Self.seeds {
      for dropping in [EventBus.Buffering.Dropping.oldest, .newest] {
        try await withSimulation(order: .seeded(seed)) { clock in
          let bus = EventBus(clock: clock)
          let received = Log<EventBus.Received<Tick>>()
          let subscription = bus.receive(Tick.self, buffering: .bounded(2, dropping: dropping)) { tick in
            received.add(.event(tick))
            await Task.yield()
          } missed: { count in
            received.add(.missed(count))
            await Task.yield()
          }
          let sequence = bus.events(Tick.self, buffering: .bounded(2, dropping: dropping))
          let iterated = Log<EventBus.Received<Tick>>()
          await withTaskGroup { group in
            group.addTask {
              for await event in sequence {
                iterated.add(event)
                if event == .event(Tick(number: -1)) { break }
                await Task.yield()
              }
            }
            var random = SplitMix64(seed: seed)
            for number in 0..<40 {
              bus.post(Tick(number: number))
              for _ in 0..<Int.random(in: 0..<3, using: &random) { await Task.yield() }
            }
            await clock.settle()
            bus.post(Tick(number: -1))
          }
          await clock.settle()
          withExtendedLifetime(subscription) {}
          for log in [received.all, iterated.all] {
            var next = 0
            for event in log {
              switch event {
              case .event(Tick(number: -1)): #expect(next == 40, "lost untold; seed \(seed)")
              case .event(let tick):
                #expect(tick.number == next, "seed \(seed)")
                next = tick.number + 1
              case .missed(let count): next += count
              }
            }
            #expect(log.last == .event(Tick(number: -1)), "seed \(seed)")
          }
        }
      }
    }
  }

  @Test func `Rules 6 and 17: every wait ends, whichever thread cancels and whatever deadline passes`() async throws {
    for seed in Self.seeds {
      try await withSimulation(order: .seeded(seed)) { clock in
        let bus = EventBus(clock: clock)
        let (running, after) = (Log<Int>(), Log<Int>())
        let drained = Log<Int>()
        let subscriptions = (0..<4).map { index in
          bus.receive(Tick.self, priority: index < 2 ? .normal : .low) { (tick: Tick) async in
            if drained.all.contains(index) { after.add(index) }
            running.add(index)
            if tick.number % 4 == index { try? await clock.sleep(for: .milliseconds(3)) } else { await Task.yield() }
            if drained.all.contains(index) { after.add(index) }
          }
        }
        let reports = Log<DeliveryReport>()
        await withTaskGroup { group in
          for poster in 0..<3 {
            group.addTask {
              for number in 0..<6 {
                let budget: Duration? = number % 2 == 0 ? nil : .milliseconds(poster + 1)
                reports.add(await bus.postAndWait(Tick(number: number), within: budget))
              }
            }
          }
          for index in [1, 2] {
            group.addTask {
              for _ in 0..<Int(seed % 17) + index { await Task.yield() }
              await subscriptions[index].cancelAndDrain()
              drained.add(index)
            }
          }
          group.addTask { for _ in 0..<60 { try? await clock.advance(by: .milliseconds(1)) } }
        }
        #expect(reports.all.count == 18, "seed \(seed)")
        #expect(after.all.isEmpty, "a handler ran after its subscription had been drained; seed \(seed)")
        for report in reports.all {
          #expect((2...4).contains(report.deliveries.count), "seed \(seed)")
          #expect(report.failures.isEmpty, "seed \(seed)")
        }
        withExtendedLifetime(subscriptions) {}
        #expect(clock.sleepers == 0, "seed \(seed)")
      }
    }
  }
}
