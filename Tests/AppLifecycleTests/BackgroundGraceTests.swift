import AppLifecycleTesting
import PubSub
import TestTraits
import Testing

@testable import AppLifecycle

/// The time for work that nothing has announced, as a host grants it.
@Suite(.timeLimit(.hang)) @MainActor struct `The grace in the background` {
  @MainActor private final class Bare: ApplicationDelegate {}

  /// A system with a component that sends in a task of its own on leaving the foreground, for 0.3 s.
  private func system(
    _ grace: Duration?, endsEarly: Bool = false, budget: Duration = .seconds(5)
  ) -> SimulatedSystem {
    var configuration = Application.Configuration()
    (configuration.backgroundGrace, configuration.backgroundGraceEndsEarly) = (grace, endsEarly)
    (configuration.didEnterBackgroundBudget, configuration.willTerminateBudget) = (budget, budget)
    return SimulatedSystem(configuration: configuration)
  }

  /// Plays a script; returns when data was sent and states were committed, from the first background on.
  private func play(
    _ script: String, on system: SimulatedSystem,
    _ start: @escaping @MainActor (@escaping @MainActor () async -> Void) -> Void
  ) async throws -> [String] {
    var log: [String] = []
    let clock = system.clock
    func note(_ what: String) { log.append("\(clock.now.offset / .seconds(1)) \(what)") }
    let subscription = system.bus.subscribe(to: Application.DidEnterBackground.self) { _ in
      start {
        try? await clock.sleep(for: .milliseconds(300))
        note("sent")
      }
    }
    let token = system.application.observe { event in
      guard let record = event.record, [.state, .report, .task].contains(record.kind) else { return }
      note(record.name)
    }
    try await system.play(script)
    withExtendedLifetime((subscription, token)) {}
    return Array(log.drop { !$0.hasSuffix("background") })
  }

  private func play(_ script: String, _ grace: Duration?, endsEarly: Bool = false) async throws -> [String] {
    try await play(script, on: system(grace, endsEarly: endsEarly)) { work in Task { await work() } }
  }

  // MARK: What a script shows

  @Test func `a device grants five seconds, so that its scripts hide the loss`() async throws {
    #expect(try await play("launch; home; wait:1s; crash", nil) == ["0.0 background", "0.3 sent", "1.0 notRunning"])
  }

  @Test func `without grace a host's stop loses what nothing announced`() async throws {
    #expect(try await play("launch; host:stop; crash", nil) == ["0.0 background", "0.0 suspended", "0.0 notRunning"])
    #expect(try await play("launch; host:end", .zero) == ["0.0 background", "0.0 notRunning"])
  }

  @Test func `with grace it is sent, before the stop and before the end`() async throws {
    let grace = Duration.seconds(1)
    #expect(
      try await play("launch; host:stop; crash", grace)
        == ["0.0 background", "0.3 sent", "1.0 suspended", "1.0 notRunning"])
    #expect(try await play("launch; host:end", grace) == ["0.0 background", "0.3 sent", "1.0 notRunning"])
  }

  @Test func `work that is announced needs no grace`() async throws {
    let system = system(.zero)
    let log = try await play("launch; host:stop; crash", on: system) { work in
      system.application.performBackgroundTask(named: "send") { await work() }
    }
    #expect(log == ["0.0 background", "0.3 sent", "0.3 suspended", "0.3 notRunning"])
  }

  @Test func `a grace that ends early lasts as long as a task of the application`() async throws {
    let plain = try await play("launch; host:stop", .seconds(1), endsEarly: true)
    #expect(plain == ["0.0 background", "0.0 suspended"], "a plain task is unknown")
    let system = system(.seconds(1), endsEarly: true)
    let log = try await play("launch; host:stop", on: system) { work in
      system.application.task { await work() }
      system.application.task(system.application, every: .seconds(60)) { _ in }
    }
    #expect(log == ["0.0 background", "0.3 sent", "0.3 suspended"])
  }

  // MARK: How long it is

  @Test func `it is counted from the entry, and the tear-down is part of it`() async throws {
    let grace = Duration.seconds(1)
    let slow = try await play("launch; slow:didEnterBackground:700ms; host:stop", grace)
    #expect(slow.last == "1.0 suspended")
    let late = try await play("launch; home; wait:600ms; host:stop", grace)
    #expect(late == ["0.0 background", "0.3 sent", "1.0 suspended"])
    #expect(try await play("launch; home; wait:2s; host:stop", grace).last == "2.0 suspended")
    #expect(try await play("launch; home; wait:2s; host:end", grace).last == "2.0 notRunning")
  }

  @Test func `it ends with the budget, without an overrun`() async throws {
    let system = system(.seconds(Int64.max), budget: .seconds(2))
    let log = try await play("launch; host:stop; open; host:end", on: system) { _ in }
    #expect(log.filter { $0.hasSuffix("suspended") } == ["2.0 suspended"])
    #expect(log.last == "4.0 notRunning")
    #expect(system.application.exitStatus == 0)
  }

  @Test func `neither a launch into the background nor a wake-up has one`() async throws {
    let grace = Duration.seconds(1)
    #expect(try await play("launch:background; host:stop", grace) == ["0.0 background", "0.0 suspended"])
    #expect(
      try await play("launch; host:stop; wait:1s; wake; host:stop", grace).suffix(2)
        == ["2.0 background", "2.0 suspended"])
    #expect(
      try await play("launch; host:stop; wait:1s; host:end", grace).suffix(2) == ["2.0 background", "2.0 notRunning"])
  }

  @Test func `an end without any background has none, also if all events are followed`() async throws {
    let system = system(.seconds(1))
    let subscription = system.bus.subscribeToAll { _ in }
    #expect(try await play("launch:background; wait:1s; host:end", on: system) { _ in }.last == "1.0 notRunning")
    withExtendedLifetime(subscription) {}
  }

  @Test func `a task that begins during it is awaited, and expires in the middle of the budget`() async throws {
    let system = system(.seconds(1))
    let log = try await play("launch; host:stop", on: system) { work in
      Task {
        await work()
        _ = system.application.beginBackgroundTask(named: "late")
      }
    }
    #expect(
      log == [
        "0.0 background", "0.3 sent", "2.5 expire:late", "5.0 backgroundTimeExpired:late", "5.0 suspended",
      ])
  }

  @Test(arguments: [SystemInput.open, .wake, .shutDown])
  func `an input during it takes effect at once`(input: SystemInput) async throws {
    try await withSimulation { @MainActor clock in
      var configuration = Application.Configuration()
      configuration.backgroundGrace = .seconds(3)
      let application = Application(
        delegate: Bare(), configuration: configuration, clock: clock)
      await application.handle(.launch)
      let suspension = application.suspend()
      try await clock.advance(by: .seconds(1))
      #expect(application.state == .background)
      application.send(input)
      await clock.settle()
      #expect(await suspension.value == false)
      #expect(application.state == (input == .open ? .active : .background))
      // An end that arrives during the grace has its rest.
      try await clock.advance(by: .seconds(2))
      #expect(application.state == (input == .open ? .active : input == .wake ? .background : .notRunning))
      #expect(clock.sleepers == 0)
    }
  }

  /// The stop then takes the steps that it takes without the feature.
  @Test func `without a grace nothing is waited for`() async throws {
    try await withSimulation { @MainActor clock in
      let application = Application(delegate: Bare(), clock: clock)
      await application.handle(.launch)
      await application.handle(.home)
      #expect(application.background.graceNow() == nil)
      let suspension = application.suspend()
      await clock.settle()
      #expect(clock.sleepers == 0)
      #expect(await suspension.value)
    }
  }

  // MARK: Classic observers

  @Test func `the default is one second where observers of a center were told, for that stay`() async throws {
    let system = system(nil)
    let subscription = system.bus.subscribe(to: Application.DidEnterBackground.self) {
      $0.application.didTellObserversOfBackground()
    }
    #expect(try await play("launch; host:stop; open", on: system) { _ in }.contains("1.0 suspended"))
    subscription.cancel()
    #expect(try await play("host:stop", on: system) { _ in } == ["1.0 background", "1.0 suspended"])
  }

  @Test func `the actions of hosts have no effect without a process that runs`() async throws {
    let system = system(nil)
    try await system.play("host:stop; host:end; launch; host:stop; host:stop; host:end")
    #expect(
      system.record.filter { $0.kind == .ignored }.map { "\($0.name) \($0.reason ?? "")" } == [
        "host:stop \(IgnoredReason.notRunning.rawValue)", "host:end \(IgnoredReason.notRunning.rawValue)",
        "host:stop \(IgnoredReason.suspended.rawValue)",
      ])
    #expect(system.application.state == .notRunning)
    #expect(system.record.violations.isEmpty)
  }
}
