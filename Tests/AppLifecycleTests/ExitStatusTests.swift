import AppLifecycle
import AppLifecycleTesting
import PubSub
import TestTraits
import Testing

/// The status with which a host ends the process.
@MainActor @Suite(.timeLimit(.hang)) struct `The exit status` {
  let system = SimulatedSystem()
  var clock: ManualClock { system.clock }
  var application: Application { system.application }
  var bus: EventBus { system.bus }

  /// Subscribes a handler that takes longer than the budget.
  private func subscribe<E: ApplicationEvent>(_: E.Type) -> EventBus.Subscription {
    bus.receive(E.self, label: "deaf") { [clock] _ in try await clock.sleep(for: .seconds(7)) }
  }

  @Test func `is 70 after a late end, until the next launch`() async throws {
    let host = Application(delegate: NotingDelegate(), bus: bus, clock: clock)
    let subscription = subscribe(Application.WillTerminate.self)
    _ = await clock.running { await host.handle(.launch) }
    _ = await clock.running { await host.handle(.home) }
    host.shutDown(status: 3)
    _ = await clock.running { await host.handle(.shutDown) }
    #expect(host.state == .notRunning && host.exitStatus == 70)
    subscription.cancel()
    _ = await clock.running { await host.handle(.launch) }
    #expect(host.exitStatus == 0)
    host.shutDown(status: 3)
    await clock.settle()
    #expect(host.state == .notRunning && host.exitStatus == 3)
  }

  /// Code that is not measured may have taken the time.
  @Test func `is 70 after an end whose time is over before its first call`() async throws {
    var configuration = Application.Configuration()
    configuration.willTerminateBudget = .seconds(-1)
    let host = Application(delegate: NotingDelegate(), bus: bus, configuration: configuration, clock: clock)
    _ = await clock.running { await host.handle(.launch) }
    let end = await clock.running { await host.handle(.shutDown) }
    #expect(end.stragglers == ["applicationWillTerminate"] && host.exitStatus == 70)
  }

  @Test func `is 70 after an end whose time a background task's expiration handler has taken`() async throws {
    let host = Application(delegate: NotingDelegate(), bus: bus, clock: clock)
    _ = await clock.running { await host.handle(.launch) }
    _ = await clock.running { await host.handle(.home) }
    let upload = host.beginBackgroundTask(named: "upload") { [clock] task in
      clock.passWithoutWaking(.seconds(6))
      task.end()
    }
    let end = await clock.running { await host.handle(.shutDown) }
    upload.end()
    #expect(end.stragglers == ["applicationWillTerminate"] && host.exitStatus == 70)
  }

  /// The tasks are reported, and the delegate is no culprit.
  @Test func `is 70 after an end whose time a background task has taken that is still open`() async throws {
    let host = Application(delegate: NotingDelegate(), bus: bus, clock: clock)
    _ = await clock.running { await host.handle(.launch) }
    _ = await clock.running { await host.handle(.home) }
    let upload = host.beginBackgroundTask(named: "upload") { [clock] _ in clock.passWithoutWaking(.seconds(6)) }
    let end = await clock.running { await host.handle(.shutDown) }
    upload.end()
    #expect(end.stragglers == ["upload"] && host.exitStatus == 70)
  }

  @Test func `can be set by a release at the end, which sends no input`() async throws {
    try application.manage("file", while: .running) {
    } release: { [unowned application] _ in
      application.shutDown(status: 1)
    }
    // The record of a simulated system has only the inputs of its scripts.
    var inputs: [SystemInput] = []
    let token = application.observe { event in
      if case .transitionBegan(let input?, _) = event { inputs.append(input) }
    }
    try await system.play("launch; kill")
    #expect(application.state == .notRunning && application.exitStatus == 1)
    #expect(inputs == [.launch, .shutDown])
    try await system.play("launch; kill")
    #expect(application.exitStatus == 1)
    token.cancel()
  }

  @Test func `is not changed by a tear-down that was late before the end`() async throws {
    let host = Application(delegate: NotingDelegate(), bus: bus, clock: clock)
    let subscription = subscribe(Application.DidEnterBackground.self)
    _ = await clock.running { await host.handle(.launch) }
    let home = await clock.running { await host.handle(.home) }
    let end = await clock.running { await host.handle(.shutDown) }
    withExtendedLifetime(subscription) {}
    #expect(home.stragglers == ["deaf"] && !home.endsProcess)
    #expect(end.overruns.isEmpty && end.endsProcess && host.exitStatus == 0)
  }
}
