import AppLifecycleTesting
import PubSub
import TestTraits
import Testing

@testable import AppLifecycle

/// The stop of a program as one call: `home`, the background tasks, `suspend`.
@Suite(.timeLimit(.hang)) @MainActor struct `A suspension` {
  /// A launched application in virtual time, with what it tells observers.
  @MainActor private final class Run {
    let application: Application
    private(set) var log: [String] = []
    private(set) var overruns: [BudgetOverrun] = []
    private var token: ObserverToken?

    init(_ clock: ManualClock) async {
      application = Application(delegate: Bare(), clock: clock)
      token = application.observe { [unowned self] event in
        if case .overran(let overrun) = event { overruns.append(overrun) }
        guard let record = event.record, [.state, .task, .report].contains(record.kind) else { return }
        log.append("\(record.instant / .seconds(1)) \(record.name)")
      }
      application.send(.launch)
      await clock.settle()
      log = []
    }
  }

  @Test func `leaves, lets background tasks end, and suspends`() async throws {
    try await withSimulation { @MainActor clock in
      let run = await Run(clock)
      let task = run.application.beginBackgroundTask(named: "upload")
      let suspension = run.application.suspend(cause: "sleep")
      #expect(run.application.state == .active)
      try await clock.advance(by: .seconds(1))
      #expect(run.application.state == .background)
      task.end()
      #expect(await suspension.value)
      #expect(run.log == ["0.0 inactive", "0.0 background", "1.0 suspended"])
      #expect(run.overruns == [])
      #expect(await run.application.suspend().value, "it is suspended already")
    }
  }

  @Test func `the tear-down and the tasks share a budget, and what overruns it is reported`() async throws {
    try await withSimulation { @MainActor clock in
      let run = await Run(clock)
      let owner = Bare()
      run.application.bus.receive(Application.DidEnterBackground.self, for: owner) { _, _ in
        try? await clock.sleep(for: .seconds(3))
      }
      _ = run.application.beginBackgroundTask(named: "upload")
      let suspension = run.application.suspend()
      try await clock.advance(by: .seconds(10))
      #expect(await suspension.value)
      #expect(
        run.log == [
          "0.0 inactive", "0.0 background", "4.0 expire:upload", "5.0 backgroundTimeExpired:upload", "5.0 suspended",
        ])
      #expect(
        run.overruns == [
          BudgetOverrun(callback: .didEnterBackground, budget: .seconds(5), culprits: ["upload"])
        ])
    }
  }

  @Test func `the budget counts from the call, also while a lock tears down`() async throws {
    try await withSimulation { @MainActor clock in
      let run = await Run(clock)
      let owner = Bare()
      run.application.bus.receive(Application.DidEnterBackground.self, for: owner) { _, _ in
        try? await clock.sleep(for: .seconds(3))
      }
      _ = run.application.beginBackgroundTask(named: "upload")
      run.application.send(.lock)
      let suspension = run.application.suspend()
      try await clock.advance(by: .seconds(10))
      #expect(await suspension.value)
      #expect(
        run.log == [
          "0.0 inactive", "0.0 background", "4.0 expire:upload", "5.0 backgroundTimeExpired:upload", "5.0 suspended",
        ])
    }
  }

  @Test func `once revoked, tasks begin again that its wait refused`() async throws {
    try await withSimulation { @MainActor clock in
      let run = await Run(clock)
      let task = run.application.beginBackgroundTask(named: "upload")
      let suspension = run.application.suspend()
      try await clock.advance(by: .seconds(3))
      let refused = run.application.beginBackgroundTask(named: "late")
      run.application.send(.wake)
      await clock.settle()
      task.end()
      #expect(await suspension.value == false)
      #expect(refused.wasRefused && !run.application.beginBackgroundTask(named: "next").wasRefused)
    }
  }

  @Test(arguments: [SystemInput.open, .wake, .fetch, .shutDown, .terminate, .launch])
  func `is revoked by what wakes, returns or ends, while tasks are awaited`(input: SystemInput) async throws {
    try await withSimulation { @MainActor clock in
      let run = await Run(clock)
      _ = run.application.beginBackgroundTask(named: "upload")
      let suspension = run.application.suspend()
      try await clock.advance(by: .seconds(1))
      if input == .open { await run.application.handle(input) } else { run.application.send(input) }
      try await clock.advance(by: .seconds(10))
      #expect(await suspension.value == false)
      #expect(!run.log.contains { $0.hasSuffix("suspended") }, "\(run.log)")
      if [.wake, .fetch, .launch].contains(input) { #expect(run.log == ["0.0 inactive", "0.0 background"]) }
    }
  }

  @Test func `is revoked by a host that takes it back, before and during the wait for tasks`() async throws {
    for delay in [0, 1] {
      try await withSimulation { @MainActor clock in
        let run = await Run(clock)
        _ = run.application.beginBackgroundTask(named: "upload")
        let suspension = run.application.suspend()
        if delay > 0 { try await clock.advance(by: .seconds(delay)) }
        run.application.revokeSuspensions()
        try await clock.advance(by: .seconds(10))
        #expect(await suspension.value == false)
        #expect(run.log == ["0.0 inactive", "0.0 background"])
      }
    }
  }

  @Test func `does not begin without a process`() async throws {
    try await withSimulation { @MainActor clock in
      let run = await Run(clock)
      run.application.send(.shutDown)
      #expect(await run.application.suspend().value == false)
      #expect(run.application.state == .notRunning)
    }
  }

  /// The events of a device arrive faster than the application follows, in each order of the work that is ready.
  @Test(arguments: 0..<40 as Range<UInt64>)
  func `follows the last event, however fast events arrive`(seed: UInt64) async throws {
    try await withSimulation(order: .seeded(seed)) { @MainActor clock in
      let run = await Run(clock)
      let application = run.application
      let first = application.suspend()
      application.send(.open)
      await clock.settle()
      #expect(application.state == .active)
      #expect(await first.value == false)

      // The second one waits for its own task, although the first one has waited, too.
      let task = application.beginBackgroundTask(named: "upload")
      let second = application.suspend()
      try await clock.advance(by: .seconds(1))
      application.send(.open)
      let third = application.suspend()
      try await clock.advance(by: .seconds(2))
      #expect(application.state == .background)
      try await clock.advance(by: .seconds(3))
      #expect(application.state == .suspended)
      #expect(await second.value == false)
      #expect(await third.value)

      task.end()
      application.send(.open)
      await clock.settle()
      let last = application.suspend()
      application.send(.wake)
      application.send(.shutDown)
      await clock.settle()
      #expect(await last.value == false)
      #expect(run.log.suffix(3).map { $0.split(separator: " ")[1] } == ["inactive", "background", "notRunning"])
    }
  }

  /// The end may arrive when the last input of the suspension is queued and has not been taken.
  @Test(arguments: 0..<200 as Range<UInt64>)
  func `loses to an end that arrives before it, at any moment`(seed: UInt64) async throws {
    try await withSimulation(order: .seeded(seed)) { @MainActor clock in
      let run = await Run(clock)
      let application = run.application
      var ends = 0
      let token = application.bus.subscribe(to: Application.WillTerminate.self) { _ in ends += 1 }
      defer { token.cancel() }
      let suspension = application.suspend()
      var wasSuspended = false
      let end = application.task {
        for _ in 0..<seed % 25 { await Task.yield() }
        wasSuspended = application.state == .suspended
        application.send(.shutDown)
      }
      try await end.value
      await clock.settle()
      #expect(application.state == .notRunning)
      #expect(ends == (wasSuspended ? 0 : 1), "seed \(seed): \(run.log)")
      #expect(await suspension.value == wasSuspended)
    }
  }

  @Test func `can be revoked until its last input is taken`() {
    var queue = InputQueue()
    let (order, _) = queue.beginSuspension(with: PendingInput(input: .system(.home), cause: "home"))
    _ = queue.next()
    let suspend = PendingInput(input: .system(.suspend), cause: "suspend", suspension: order)
    let isQueued = queue.endSuspension(with: suspend) != nil
    let revokes = queue.add(.input(PendingInput(input: .system(.shutDown), cause: "kill"))).revokes
    _ = queue.next()
    let isTaken = queue.takeSuspension(since: order)
    #expect(isQueued && revokes && !isTaken)
    // No suspension is left that an input could revoke.
    let revokesAgain = queue.add(.input(PendingInput(input: .system(.shutDown), cause: "kill"))).revokes
    #expect(!revokesAgain)
  }

  @MainActor private final class Bare: ApplicationDelegate {}
}
