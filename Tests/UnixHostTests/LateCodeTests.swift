import AppLifecycle
import AppLifecycleTesting
import PubSub
import Testing

@testable import UnixHost

/// What a host says of code that is late.
@Suite @MainActor struct `Late code outside a tear-down` {
  @MainActor fileprivate final class Delegate {
    var answers: @MainActor () async -> Void = {}
  }

  private let delegate = Delegate()
  private let system: SimulatedSystem

  init() { system = SimulatedSystem { [delegate] in delegate } }

  /// Returns what a host reports by itself during a script.
  private func reports(of script: String) async throws -> [String] {
    var texts: [String] = []
    let token = HostSession.follow(system.application, link: HostLink<ProcessStateMachine.Event>()) {
      texts.append($0.text)
    }
    try await system.play(script)
    token.cancel()
    return texts
  }

  private func takeSixSeconds<E: ApplicationEvent>(at _: E.Type) -> EventBus.Subscription {
    system.bus.receive(E.self, label: "saver") { [clock = system.clock] _ in
      try await clock.sleep(for: .seconds(6))
    }
  }

  @Test func `is reported if it is a release`() async throws {
    let clock = system.clock
    try system.application.manage("feed", while: .active) {
    } release: {
      try await clock.sleep(for: .seconds(6))
    }
    #expect(
      try await reports(of: "launch; interrupt:call; wait:10s") == [
        "the release of feed overran its budget of 5.0 seconds"
      ])
  }

  @Test func `is reported if it is a handler`() async throws {
    let handler = takeSixSeconds(at: Application.WillResignActive.self)
    #expect(
      try await reports(of: "launch; interrupt:call; wait:10s") == [
        "the tear-down of applicationWillResignActive overran its budget of 5.0 seconds: saver"
      ])
    withExtendedLifetime(handler) {}
  }

  /// Code that is called again and again is not late, and its mistake is reported in the same way.
  @Test func `has beside it a background task that is refused endlessly`() async throws {
    let application = system.application
    @MainActor func begin() { _ = application.beginBackgroundTask(named: "upload") { _ in begin() } }
    system.addAction("begin") { begin() }
    let texts = try await reports(of: "launch; home; task:begin:open; wait:25s; do:begin; task:end:open")
    #expect(
      texts == [
        "the background task upload is begun again and again although it is refused; its handlers are not called"
      ])
  }

  @Test func `is left to the report of the transition if one follows`() async throws {
    let handler = takeSixSeconds(at: Application.DidEnterBackground.self)
    #expect(try await reports(of: "launch; home") == [])
    #expect(system.application.ledger.overruns.count == 1)
    withExtendedLifetime(handler) {}
  }

  @Test func `is left to the report of the end if it is the answer of the delegate`() async throws {
    let clock = system.clock
    delegate.answers = { try? await clock.sleep(for: .seconds(40)) }
    #expect(try await reports(of: "launch; quit; wait:1m") == [])
    #expect(system.application.ledger.overruns.map(\.callback) == [.shouldTerminate])
  }
}

extension `Late code outside a tear-down`.Delegate: ApplicationDelegate {
  func applicationShouldTerminate(_ application: Application, cause: LifecycleCause) async -> TerminateReply {
    await answers()
    return .now
  }
}
