import AppLifecycle
import AppLifecycleTesting
import Foundation
import NotificationCenterBridge
import PubSub
import Testing

/// Components that know the notification center alone, under what a host does.
@Suite @MainActor struct `Observers that start work in the background` {
  private let center = NotificationCenter()
  private let system = SimulatedSystem()
  private let log = Log()

  /// Sends in a task that it does not announce, for 0.3 s.
  private func observe() -> [any NSObjectProtocol] {
    let clock = system.clock
    return ["DidEnterBackground", "WillTerminate"].map { name in
      center.addObserver(forName: Notification.Name("UIApplication\(name)Notification"), object: nil, queue: nil) {
        [log] notification in
        let state = (notification.object as? Application).map { _ in "" } ?? " without an application"
        log.add("\(clock.now.offset / .seconds(1)) \(name)\(state)")
        guard name == "DidEnterBackground" else { return }
        Task {
          try? await clock.sleep(for: .milliseconds(300))
          log.add("\(clock.now.offset / .seconds(1)) sent")
        }
      }
    }
  }

  private func play(_ script: String, servicesEnterBackground: Bool = false) async throws -> [String] {
    let link = NotificationCenterBridge(system.bus, to: center).postLifecycle(
      servicesEnterBackground: servicesEnterBackground)
    let observers = observe()
    try await system.play(script)
    withExtendedLifetime((link, observers)) {}
    return log.all
  }

  private var states: [String] {
    system.record.filter { $0.kind == .state }.map { "\($0.instant / .seconds(1)) \($0.name)" }
  }

  @Test func `have one second before the stop and before the end`() async throws {
    let log = try await play("launch; host:stop; open; host:end")
    #expect(log == ["0.0 DidEnterBackground", "0.3 sent", "1.0 DidEnterBackground", "1.3 sent", "2.0 WillTerminate"])
    #expect(
      states.filter { $0.hasSuffix("suspended") || $0.hasSuffix("notRunning") } == ["1.0 suspended", "2.0 notRunning"])
  }

  @Test func `have none without a link`() async throws {
    let observers = observe()
    NotificationCenterBridge(system.bus, to: center).postLifecycle().cancel()
    try await system.play("launch; host:stop")
    withExtendedLifetime(observers) {}
    #expect(states.last == "0.0 suspended")
    #expect(log.all == [])
  }

  @Test func `of a service get the end alone, unless the link tells them of the background first`() async throws {
    #expect(try await play("launch:background; wait:1m; mode:begin:service; host:end") == ["60.0 WillTerminate"])
  }

  @Test func `of a service send before the end, if the link tells them`() async throws {
    let log = try await play(
      "mode:begin:service; launch:background; mode:begin:service; wait:1m; host:end", servicesEnterBackground: true)
    #expect(log == ["60.0 DidEnterBackground", "60.3 sent", "61.0 WillTerminate"])
    #expect(system.record.violations.isEmpty)
    #expect(!system.record.contains { $0.name.contains("DidEnterBackground") }, "the application has no such step")
  }

  @Test func `are told of the background once, also if a launch into it tells them`() async throws {
    var configuration = Application.Configuration()
    configuration.callsDidEnterBackgroundOnBackgroundLaunch = true
    let system = SimulatedSystem(configuration: configuration)
    let link = NotificationCenterBridge(system.bus, to: center).postLifecycle(servicesEnterBackground: true)
    let observers = observe()
    try await system.play("launch:background; mode:begin:service; wait:1m; host:end")
    #expect(log.all.filter { $0.hasSuffix("DidEnterBackground") }.count == 1, "\(log.all)")
    withExtendedLifetime((link, observers)) {}
  }

  @Test func `alone receive that step: a bus without a bridge has no such event`() async throws {
    let subscriptions = [
      system.bus.subscribe(to: EventBus.Undelivered.self) { [log] in log.add("undelivered \($0.event)") },
      system.bus.subscribeToAll { [log] event in
        if "\(type(of: event))".contains("Unseen") { log.add("\(event)") }
      },
    ]
    try await system.play("launch:background; wait:1s; host:end")
    #expect(log.all.filter { $0.contains("Unseen") } == [])
    withExtendedLifetime(subscriptions) {}
  }

  @Test func `of a program that was in the foreground are told of the background once`() async throws {
    let log = try await play("launch; host:stop; wait:1m; host:end", servicesEnterBackground: true)
    #expect(log == ["0.0 DidEnterBackground", "0.3 sent", "61.0 WillTerminate"])
  }
}
