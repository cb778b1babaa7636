import AppLifecycle
import AppLifecycleTesting
import Scheduling
import TestTraits
import Testing

@Suite(.timeLimit(.hang)) struct ManualClockTests {
  @Test func `sleepers wake by deadline, at equal deadlines the first sleeper first`() async throws {
    let lines = try await withSimulation { clock in
      let trace = Trace()
      try await withThrowingTaskGroup { group in
        for (name, seconds) in [("c", 3), ("a", 1), ("b", 2), ("a again", 1), ("c again", 3)] {
          group.addTask {
            try? await clock.sleep(for: .seconds(seconds))
            trace.write("\(name) \(clock.now)")
          }
        }
        try await clock.advance(by: .seconds(2))
        trace.write("advanced, \(clock.sleepers) asleep, next \(clock.nextDeadline?.offset ?? .zero)")
        try await clock.advance(by: .seconds(1))
      }
      return trace.lines
    }
    #expect(
      lines == [
        "a t+1.0 seconds", "a again t+1.0 seconds", "b t+2.0 seconds", "advanced, 2 asleep, next 3.0 seconds",
        "c t+3.0 seconds", "c again t+3.0 seconds",
      ])
  }

  @Test func `what a wake-up sets going runs before the next wake-up, a new sleep included`() async throws {
    let lines = try await withSimulation { clock in
      let trace = Trace()
      async let early: Void = {
        try? await clock.sleep(for: .seconds(1))
        await deep(5) { trace.write("early \(clock.now.offset)") }
        try? await clock.sleep(for: .milliseconds(500))
        trace.write("early again \(clock.now.offset)")
      }()
      async let late: Void = {
        try? await clock.sleep(for: .seconds(2))
        trace.write("late \(clock.now.offset)")
      }()
      try await clock.advance(by: .seconds(10))
      _ = await (early, late)
      return trace.lines
    }
    #expect(lines == ["early 1.0 seconds", "early again 1.5 seconds", "late 2.0 seconds"])
  }

  @Test func `a sleep beyond the end of time ends with it`() async throws {
    let end = ManualClock.Instant(offset: .seconds(Int64.max))
    let beyond = end.advanced(by: .seconds(1))
    try await withSimulation { (clock) async throws in
      try await clock.running { try await clock.sleep(until: beyond) }
      #expect(clock.now == end)
      // There is no time left to sleep.
      try await clock.sleep(until: beyond)
      try await clock.sleep(for: .seconds(1))
    }
    let system = await SimulatedSystem()
    let application = await system.application
    try await system.clock.running {
      try await application.clock.sleep(until: ApplicationClock.Instant(offset: beyond.offset))
    }
    #expect(system.clock.now == end)
  }

  @Test func `a deadline that has passed does not suspend, and time never goes back`() async throws {
    try await withSimulation { (clock) async throws in
      try await clock.advance(by: .seconds(5))
      try await clock.sleep(until: ManualClock.Instant(offset: .seconds(5)))
      try await clock.sleep(for: .seconds(-1))
      try await clock.advance(by: .seconds(-3))
      try await clock.advance(to: ManualClock.Instant(offset: .seconds(2)))
      #expect(clock.now.offset == .seconds(5))
    }
  }

  @Test func `cancelling a sleeper wakes it at once with an error, before, during and after`() async throws {
    let lines = try await withSimulation { clock in
      let trace = Trace()
      let sleep: @Sendable (String) async -> Void = { name in
        do {
          try await clock.sleep(for: .seconds(60))
          trace.write("\(name) slept")
        } catch {
          trace.write("\(name): \(type(of: error)) at \(clock.now.offset)")
        }
      }
      try await withThrowingTaskGroup { group in
        group.addTask { await sleep("during") }
        try await clock.advance(by: .seconds(1))
        #expect(clock.sleepers == 1)
        group.cancelAll()
        await clock.settle()
        #expect(clock.sleepers == 0)
        group.addTask { await sleep("before") }
      }
      try await withThrowingTaskGroup { group in
        group.addTask { await sleep("after") }
        try await clock.advance(by: .seconds(60))
        group.cancelAll()
      }
      return trace.lines
    }
    #expect(
      lines == [
        "during: CancellationError at 1.0 seconds", "before: CancellationError at 1.0 seconds", "after slept",
      ])
  }

  @Test func `running lets time pass until the operation has finished, and no longer`() async {
    let clock = ManualClock()
    let forever = Task(executorPreference: clock.executor) {
      while !Task.isCancelled { try? await clock.sleep(for: .seconds(1)) }
    }
    await clock.settle()
    let value = await clock.running { () async -> Int in
      try? await clock.sleep(for: .milliseconds(2_500))
      return 7
    }
    #expect(value == 7)
    #expect(clock.now.offset == .milliseconds(2_500))
    forever.cancel()
    await forever.value
  }

  @Test func `running passes on what the operation throws`() async {
    struct Failed: Error {}
    let clock = ManualClock()
    await #expect(throws: Failed.self) {
      try await clock.running { () async throws(Failed) -> Void in throw Failed() }
    }
  }

  @Test func `running goes on after an undeclared answer of the outside world`() async {
    let clock = ManualClock()
    await clock.running {
      await Task.detached { await Task.yield() }.value
      try? await clock.sleep(for: .seconds(1))
      await Task.detached { await Task.yield() }.value
      try? await clock.sleep(for: .seconds(1))
    }
    #expect(clock.now.offset == .seconds(2))
  }

  @Test @MainActor func `a test on the main actor may drive the clock`() async {
    let clock = ManualClock()
    var seen: [Duration] = []
    await clock.running { @MainActor in
      try? await clock.sleep(for: .seconds(1))
      seen.append(clock.now.offset)
      try? await clock.sleep(for: .seconds(1))
      seen.append(clock.now.offset)
    }
    #expect(seen == [.seconds(1), .seconds(2)])
    #expect(clock.executor.foreignWakeUps == 0)
  }

  @Test func `run advances until no task sleeps, or to its limit`() async throws {
    try await withSimulation { clock in
      async let once: Void? = try? clock.sleep(for: .seconds(90))
      try await clock.run()
      _ = await once
      #expect(clock.now.offset == .seconds(90))

      try await withThrowingTaskGroup { group in
        group.addTask { while (try? await clock.sleep(for: .seconds(4))) != nil {} }
        try await clock.run(limit: .seconds(10))
        #expect(clock.now.offset == .seconds(98))
        group.cancelAll()
      }
    }
  }

  @Test func `immense durations saturate instead of overflowing`() async throws {
    let clock = ManualClock()
    for _ in 0..<3 { try await clock.advance(by: .seconds(Int64.max)) }
    #expect(clock.now.offset == .seconds(Int64.max))
  }

  @Test func `many sleepers wake in order, whatever the order in which they slept`() async throws {
    for seed in UInt64(1)...5 {
      let isOrdered = try await withSimulation { clock in
        let trace = Trace()
        var random = SplitMix64(seed: seed)
        let lengths = (0..<500).map { _ in Int.random(in: 1...100, using: &random) }
        try await withThrowingTaskGroup { group in
          for (number, length) in lengths.enumerated() {
            group.addTask {
              try? await clock.sleep(for: .seconds(length))
              trace.write("\(length) \(number)")
            }
          }
          try await clock.run()
        }
        let expected = lengths.enumerated().sorted { ($0.element, $0.offset) < ($1.element, $1.offset) }
        return trace.lines == expected.map { "\($0.element) \($0.offset)" }
      }
      #expect(isOrdered, "seed \(seed)")
    }
  }
}

/// Calls itself through the main actor, so that finishing takes many hops.
private func deep(_ depth: Int, _ body: @Sendable () -> Void) async {
  guard depth > 0 else { return body() }
  await MainActor.run {}
  await deep(depth - 1, body)
}
