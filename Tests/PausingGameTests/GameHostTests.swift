import AppLifecycle
import AppLifecycleTesting
import PubSub
import Testing

@testable import PausingGame

/// What the game's host makes of the events of windows, without a window.
@Suite @MainActor struct GameHostTests {
  /// A host in virtual time.
  @MainActor private final class Subject: HostContract.Subject {
    let host: GameHost
    private let clock: ManualClock
    var application: Application { host.application }

    init(_ clock: ManualClock) {
      self.clock = clock
      host = GameHost(
        application: Application(
          delegate: Delegate(), configuration: GameDelegate.configuration, clock: clock))
    }

    func take(_ batch: [(WindowEvent.Kind, SceneIdentifier)]) async {
      host.take(batch.map { WindowEvent($0.0, of: $0.1) })
      await clock.settle()
    }

    func perform(_ event: HostContract.Event) async -> Bool {
      switch event {
      case .launch: await application.handle(.launch)
      case .loseFocus: await take([(.lostFocus, .main)])
      case .regainFocus: await take([(.gainedFocus, .main)])
      case .leave: await take([(.wasHidden, .main)])
      case .comeBack: await take([(.wasShown, .main)])
      case .shortMemory: await application.handle(.memoryWarning)
      case .terminate: await take([(.wasClosed, .main)])
      case .shutDown: await application.handle(.shutDown)
      // A window is never stopped.
      case .suspend, .sleep: return false
      }
      return true
    }
  }

  @MainActor private final class Delegate: ApplicationDelegate {}

  @Test func theHostKeepsTheContract() async throws {
    try await withSimulation { @MainActor clock in
      let report = try await HostContract.check { Subject(clock) }
      #expect(report.violations == [] && report.missing == [.suspend, .sleep])
    }
  }

  @Test func aWindowThatIsShownAgainShortensTheTearDown() async throws {
    try await withSimulation { @MainActor clock in
      let subject = Subject(clock)
      let token = subject.application.bus.receive(Application.DidEnterBackground.self) { _ in
        try await clock.sleep(for: .seconds(3))
      }
      defer { token.cancel() }
      await subject.application.handle(.launch)
      await subject.take([(.wasHidden, .main)])
      #expect(subject.application.state == .background)
      await subject.take([(.wasShown, .main), (.gainedFocus, .main)])
      #expect(subject.application.state == .active && clock.now.offset == .zero)
    }
  }

  /// Plays batches of events on a host with two windows, and returns the inputs to which each leads.
  private func inputs(
    for batches: [[(WindowEvent.Kind, SceneIdentifier)]], then state: ApplicationState
  ) async throws -> [[String]] {
    try await withSimulation { @MainActor clock in
      let subject = Subject(clock)
      let application = subject.application
      for input in [SystemInput.launch, .openScene(.scores), .unfocusScene(.scores)] { await application.handle(input) }
      var inputs: [String] = []
      let token = application.observe { event in
        guard let record = event.record else { return }
        if record.kind == .input { inputs.append(record.name) }
      }
      defer { token.cancel() }
      var all: [[String]] = []
      for batch in batches {
        inputs = []
        await subject.take(batch)
        all.append(inputs)
      }
      #expect(application.state == state)
      return all
    }
  }

  @Test func aFocusThatMovesIsGainedBeforeItIsLost() async throws {
    let inputs = try await inputs(for: [[(.lostFocus, .main), (.gainedFocus, .scores)]], then: .active)
    #expect(inputs == [["scene:focus:scores", "scene:unfocus:main"]])
  }

  @Test func aWindowThatIsMinimizedLosesTheFocusFirst() async throws {
    let inputs = try await inputs(
      for: [
        [(.wasHidden, .main), (.lostFocus, .main), (.gainedFocus, .scores)],
        [(.lostFocus, .scores), (.gainedFocus, .main), (.wasShown, .main)],
      ], then: .active)
    #expect(
      inputs == [
        ["scene:focus:scores", "scene:unfocus:main", "scene:background:main"],
        ["scene:open:main", "scene:focus:main", "scene:unfocus:scores"],
      ])
  }

  @Test func onlyNewsIsPassedOn() async throws {
    let inputs = try await inputs(
      for: [
        [(.wasShown, .main), (.gainedFocus, .main), (.lostFocus, .scores)],
        [(.lostFocus, .main), (.gainedFocus, .main)],
        [(.gainedFocus, "another")],
      ], then: .active)
    #expect(inputs == [[], [], []])
  }

  @Test func aClosedWindowClosesItsSceneAndTheMainOneEndsTheProgram() async throws {
    let inputs = try await inputs(
      for: [
        [(.wasClosed, .scores), (.lostFocus, .scores)], [(.gainedFocus, .scores), (.wasShown, .scores)],
        [(.wasClosed, .main)],
      ], then: .notRunning)
    #expect(inputs == [["scene:close:scores"], [], ["quit"]])
  }

  @Test func anEventOfAWindowThatIsAboutToCloseDoesNotOpenItAgain() async throws {
    try await withSimulation { @MainActor clock in
      let subject = Subject(clock)
      await subject.application.handle(.launch)
      await subject.application.handle(.openScene(.scores))
      subject.host.take([WindowEvent(.wasClosed, of: .scores)])
      await subject.take([(.wasShown, .scores)])
      #expect(subject.application.scenes.map(\.identifier) == [.main])
      // The player opens it again: it is a scene of its own.
      await subject.application.handle(.openScene(.scores))
      await subject.take([(.wasHidden, .scores)])
      #expect(subject.application.scenes.map(\.state) == [.foregroundActive, .background])
    }
  }
}
