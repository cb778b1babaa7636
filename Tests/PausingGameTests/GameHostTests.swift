import AppLifecycle
import AppLifecycleTesting
import Testing

@testable import PausingGame

/// What the game's host makes of the events of windows, without a window.
@Suite @MainActor struct GameHostTests {
  @MainActor private final class Subject: HostContract.Subject {
    let host = GameHost(
      application: Application(delegate: Delegate(), configuration: GameDelegate.configuration))
    var application: Application { host.application }

    func perform(_ event: HostContract.Event) async -> Bool {
      func take(_ kinds: WindowEvent.Kind...) async { await host.take(kinds.map { WindowEvent($0, of: .main) }) }
      switch event {
      case .launch: await application.handle(.launch)
      case .loseFocus: await take(.lostFocus)
      case .regainFocus: await take(.gainedFocus)
      case .leave: await take(.wasHidden)
      case .comeBack: await take(.wasShown)
      case .shortMemory: await application.handle(.memoryWarning)
      case .terminate: await take(.wasClosed)
      case .shutDown: await application.handle(.shutDown)
      // A window is never stopped.
      case .suspend, .sleep: return false
      }
      return true
    }
  }

  @MainActor private final class Delegate: ApplicationDelegate {}

  @Test func theHostKeepsTheContract() async throws {
    let report = try await HostContract.check { Subject() }
    #expect(report.violations == [] && report.missing == [.suspend, .sleep])
  }

  /// A host with two windows, and the inputs that its application takes.
  @MainActor private final class Run {
    let host = GameHost(
      application: Application(delegate: Delegate(), configuration: GameDelegate.configuration))
    private var inputs: [String] = []
    private var token: ObserverToken?

    init() async {
      await host.application.handle(.launch)
      await host.application.handle(.openScene(.scores))
      await host.application.handle(.unfocusScene(.scores))
      token = host.application.observe { [weak self] event in
        if let record = event.record, record.kind == .input { self?.inputs.append(record.name) }
      }
    }

    /// The inputs to which events of windows lead.
    func inputs(for batch: [(WindowEvent.Kind, SceneIdentifier)]) async -> [String] {
      inputs = []
      await host.take(batch.map { WindowEvent($0.0, of: $0.1) })
      return inputs
    }
  }

  @Test func aFocusThatMovesIsGainedBeforeItIsLost() async {
    let run = await Run()
    #expect(
      await run.inputs(for: [(.lostFocus, .main), (.gainedFocus, .scores)])
        == ["scene:focus:scores", "scene:unfocus:main"])
    #expect(run.host.application.state == .active)
  }

  @Test func aWindowThatIsMinimizedLosesTheFocusFirst() async {
    let run = await Run()
    #expect(
      await run.inputs(for: [(.wasHidden, .main), (.lostFocus, .main), (.gainedFocus, .scores)])
        == ["scene:focus:scores", "scene:unfocus:main", "scene:background:main"])
    #expect(
      await run.inputs(for: [(.lostFocus, .scores), (.gainedFocus, .main), (.wasShown, .main)])
        == ["scene:open:main", "scene:focus:main", "scene:unfocus:scores"])
  }

  @Test func onlyNewsIsPassedOn() async {
    let run = await Run()
    #expect(await run.inputs(for: [(.wasShown, .main), (.gainedFocus, .main), (.lostFocus, .scores)]) == [])
    #expect(await run.inputs(for: [(.lostFocus, .main), (.gainedFocus, .main)]) == [])
    #expect(await run.inputs(for: [(.gainedFocus, "another")]) == [])
  }

  @Test func aClosedWindowClosesItsSceneAndTheMainOneEndsTheProgram() async {
    let run = await Run()
    #expect(await run.inputs(for: [(.wasClosed, .scores), (.lostFocus, .scores)]) == ["scene:close:scores"])
    #expect(await run.inputs(for: [(.gainedFocus, .scores)]) == [])
    #expect(await run.inputs(for: [(.wasClosed, .main)]) == ["quit"])
    #expect(run.host.application.state == .notRunning)
  }
}
