import AppLifecycle
import Testing

@testable import UnixHost

/// What a host's delivery does to an application that its program has suspended.
@Suite @MainActor struct `A delivery to a suspended application` {
  @MainActor fileprivate final class Delegate {
    var reply = TerminateReply.now
    var calls: [String] = []
  }

  private func deliver(_ input: SystemInput, to delegate: Delegate) async -> Application {
    let application = Application(delegate: delegate)
    for input in [SystemInput.launch, .home, .suspend] { await application.handle(input) }
    #expect(application.state == .suspended)
    _ = await HostDelivery(id: 1, input: input, cause: "signal").perform(on: application)
    return application
  }

  @Test func `of an order wakes it and ends it in order`() async {
    let delegate = Delegate()
    let application = await deliver(.shutDown, to: delegate)
    #expect(application.state == .notRunning && delegate.calls == ["ends"])
  }

  @Test func `of a key wakes it and asks it`() async {
    let delegate = Delegate()
    let application = await deliver(.terminate, to: delegate)
    #expect(application.state == .notRunning && delegate.calls == ["asked", "ends"])
  }

  /// The program's own suspension may be queued before the order when the host looks at the state.
  @Test(arguments: 0..<40) func `of an order ends it in order at any moment of a suspension`(yields: Int) async {
    let delegate = Delegate()
    let application = Application(delegate: delegate)
    await application.handle(.launch)
    let suspension = Task {
      application.send(.home)
      for _ in 0..<yields % 4 { await Task.yield() }
      application.send(.suspend)
    }
    for _ in 0..<yields / 4 { await Task.yield() }
    _ = await HostDelivery(id: 1, input: .shutDown, cause: "signal").perform(on: application)
    await suspension.value
    #expect(application.state == .notRunning && delegate.calls == ["ends"], "\(yields) yields")
  }

  @Test func `of a key leaves it awake if it refuses`() async {
    let delegate = Delegate()
    delegate.reply = .cancel
    let application = await deliver(.terminate, to: delegate)
    #expect(application.state == .background && delegate.calls == ["asked"])
  }
}

extension `A delivery to a suspended application`.Delegate: ApplicationDelegate {
  func applicationShouldTerminate(_ application: Application, cause: LifecycleCause) async -> TerminateReply {
    calls.append("asked")
    return reply
  }

  func applicationWillTerminate(_ application: Application) { calls.append("ends") }
}
