import AppLifecycleTesting
import Dispatch
import PubSub
import Scheduling
import TestTraits
import Testing

/// The world is closed: the order of its jobs depends on the program and the seed alone.
@Suite(.timeLimit(.hang)) struct SimulationExecutorTests {
  @Test func `a mixed program gives the same trace in every run`() async throws {
    let first = try await mixedProgram(order: .fifo)
    #expect(first.lines.count == 60)
    #expect(first.foreignWakeUps == 0)
    for _ in 0..<200 {
      let next = try await mixedProgram(order: .fifo)
      #expect(next == first)
      guard next == first else { return }
    }
  }

  @Test func `worlds side by side do not disturb each other`() async throws {
    let alone = try await mixedProgram(order: .fifo)
    let together = try await withThrowingTaskGroup(of: Outcome.self) { group in
      for _ in 0..<50 { group.addTask { try await mixedProgram(order: .fifo) } }
      return try await group.reduce(into: [Outcome]()) { $0.append($1) }
    }
    #expect(together.allSatisfy { $0 == alone })
  }

  @Test func `a seed gives its own order, every time`() async throws {
    var traces: Set<[String]> = []
    for seed in UInt64(0)..<40 {
      let first = try await mixedProgram(order: .seeded(seed))
      let second = try await mixedProgram(order: .seeded(seed))
      #expect(first == second, "seed \(seed)")
      #expect(first.foreignWakeUps == 0, "seed \(seed)")
      #expect(Set(first.lines).count == 60, "seed \(seed) lost a line")
      traces.insert(first.lines)
    }
    #expect(traces.count > 30, "of 40 seeds, \(traces.count) orders")
  }

  @Test func `a seed changes nothing in the order of the main actor's jobs`() async throws {
    for seed in UInt64(0)..<100 {
      try await withSimulation(order: .seeded(seed)) { clock in
        let order = Trace()
        for number in 0..<4 {
          Task { @MainActor in order.write("\(number)") }
          Task { @concurrent in }
        }
        await clock.settle()
        #expect(order.lines == ["0", "1", "2", "3"], "seed \(seed)")
      }
    }
  }

  @Test func `external work inside external work is one piece of it`() async throws {
    try await withSimulation { clock in
      let answer = await clock.external { await clock.external { 42 } }
      #expect(answer == 42)
    }
  }

  @Test func `a thread of the outside world that wakes a task inside is counted, and reported`() async {
    let counted = Guarded(0)
    let error = await #expect(throws: EscapedWork.self) {
      try await withSimulation { clock in
        await withUnsafeContinuation { continuation in
          DispatchQueue.global().async {
            DispatchQueue.main.sync {}  // from now on the inside waits
            continuation.resume()
          }
        }
        counted.withLock { $0 = clock.executor.foreignWakeUps }
      }
    }
    #expect(counted.withLock { $0 } >= 1)
    #expect(error?.violations.count == 1)
  }

  @Test func `external work goes on in the order in which it began, and nothing is foreign`() async throws {
    for _ in 0..<20 {
      let (lines, foreign, time) = try await withSimulation { clock in
        let trace = Trace()
        await withTaskGroup { group in
          for (name, length) in [("slow", 3), ("fast", 1), ("middle", 2)] {
            group.addTask {
              await clock.external { await outsideWork(rounds: length * 200) }
              trace.write(name)
            }
          }
        }
        return (trace.lines, clock.executor.foreignWakeUps, clock.now.offset)
      }
      #expect(lines == ["slow", "fast", "middle"])
      #expect(foreign == 0)
      #expect(time == .zero)
    }
  }

  @Test func `virtual time stands still while external work is under way`() async throws {
    let order = try await withSimulation { clock in
      let trace = Trace()
      async let external: Void = {
        await clock.external { await outsideWork(rounds: 500) }
        trace.write("external at \(clock.now)")
      }()
      async let sleeper: Void = {
        try? await clock.sleep(for: .seconds(1))
        trace.write("woke")
      }()
      try await clock.advance(by: .seconds(1))
      _ = await (sleeper, external)
      return trace.lines
    }
    #expect(order == ["external at t+0.0 seconds", "woke"])
  }

  @Test func `virtual time stands still for external work of a task that outlives other external work`() async throws {
    let order = try await withSimulation { clock in
      let (trace, begun) = (Trace(), OneShot<Bool>())
      await clock.external {
        Task {
          await clock.external {
            begun.settle(true)
            // A thread alone, while the simulation would pass through the main queue until it is quiet.
            await withUnsafeContinuation { continuation in
              DispatchQueue.global().async {
                for _ in 0..<20_000 { DispatchQueue.main.sync {} }
                continuation.resume()
              }
            }
            trace.write("external at \(clock.now)")
          }
        }
        _ = await begun.value
      }
      try await clock.advance(by: .seconds(1))
      trace.write("advanced")
      return trace.lines
    }
    #expect(order == ["external at t+0.0 seconds", "advanced"])
  }

  @Test func `an error of external work is thrown where it is awaited`() async throws {
    struct Refused: Error {}
    try await withSimulation { clock in
      _ = await #expect(throws: Refused.self) {
        try await clock.external { () async throws(Refused) -> Void in throw Refused() }
      }
    }
  }

  @Test func `settling waits for chains through actors, the main actor and child tasks`() async throws {
    let (counted, foreign) = try await withSimulation { clock in
      let counter = Counter()
      async let work: Void = {
        for _ in 0..<10 {
          await counter.add()
          await onMainActor {}
          async let nested: Void = counter.add()
          await nested
        }
      }()
      await clock.settle()
      let counted = await counter.count
      await work
      return (counted, clock.executor.foreignWakeUps)
    }
    #expect(counted == 20)
    #expect(foreign == 0)
  }
}

/// What a run left behind.
private struct Outcome: Equatable, Sendable {
  var lines: [String]
  var foreignWakeUps: Int
}

/// Five workers that go through everything that the closed world promises: actors, the main actor, child tasks, groups,
/// streams and the clock.
private func mixedProgram(order: SimulationExecutor.Order) async throws -> Outcome {
  try await withSimulation(order: order) { clock in
    let trace = Trace()
    let counter = Counter()
    let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
    async let listener: Void = { for await value in stream { trace.write("heard \(value)") } }()
    async let workers: Void = withTaskGroup { group in
      for worker in 0..<5 {
        group.addTask {
          for round in 0..<3 {
            await counter.add()
            trace.write("\(worker).\(round) counted")
            await onMainActor { trace.write("\(worker).\(round) on the main actor") }
            try? await clock.sleep(for: .milliseconds(worker * 10 % 3))
            await Task.yield()
            trace.write("\(worker).\(round) slept")
            continuation.yield(worker * 10 + round)
          }
        }
      }
    }
    try await clock.run()
    await workers
    continuation.finish()
    await listener
    return Outcome(lines: trace.lines, foreignWakeUps: clock.executor.foreignWakeUps)
  }
}

private actor Counter {
  var count = 0
  func add() { count += 1 }
}

@MainActor private func onMainActor(_ body: @Sendable () -> Void) { body() }

/// Work on threads of the outside world, of a length that the machine decides.
private func outsideWork(rounds: Int) async {
  await withCheckedContinuation { continuation in
    Task.detached {
      for _ in 0..<rounds { await Task.yield() }
      continuation.resume()
    }
  }
}
