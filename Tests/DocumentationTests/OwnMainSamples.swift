import AppLifecycle
import AppLifecycleTesting
import ArgumentParserStandIn
import Glibc
import PubSub
import TestTraits
import Testing
import UnixHost

// The listings of Sources/UnixHost/UnixHost.docc/YourOwnMain.md and of the question in Docs/LifeCycle.md, word for word.

@MainActor private final class DrainingService {}

extension DrainingService: ServiceApplicationDelegate {
  static var configuration: Application.Configuration {
    var configuration = Application.Configuration()
    configuration.willTerminateBudget = .seconds(20)
    return configuration
  }
}

@MainActor private final class TrackerDelegate: ApplicationDelegate {}

func runTracker(isPatient: Bool) -> Never {
  MainLoop.run {
    var configuration = Application.Configuration()
    if isPatient { configuration.shouldTerminateBudget = .seconds(600) }
    let application = Application(
      delegate: TrackerDelegate(), configuration: configuration)
    Application.adopt(application)
    return await TerminalHost(application: application).run()
  }
}

struct Tracker: ParsableCommand {
  @Flag(help: "Wait ten minutes for the answer whether to end.")
  var patient = false

  func run() { runTracker(isPatient: patient) }
}

@MainActor
func embed(
  _ guest: Application, in application: Application
) -> [EventBus.Subscription] {
  let bus = application.bus
  return [
    bus.subscribe(to: Application.DidFinishLaunching.self, from: application) { event in
      let transition = event.transition
      guest.send(
        transition.to.isForeground ? .launch : .launchInBackground,
        cause: transition.cause)
    },
    bus.subscribe(to: Application.WillEnterForeground.self, from: application) {
      guest.send(.open, cause: $0.transition.cause)
    },
    bus.receive(Application.DidEnterBackground.self, from: application) { event in
      await guest.handle(.home, cause: event.transition.cause)
    },
    bus.receive(Application.WillTerminate.self, from: application) { event in
      await guest.handle(.shutDown, cause: event.transition.cause)
    },
  ]
}

@MainActor func runOwnLoop(
  _ application: Application, _ socket: Int32, _ serve: () -> Void
) -> Int32 {
  var status: Int32?
  Task { status = await ServiceHost(application: application).run() }
  while status == nil {
    var waiting = [
      pollfd(fd: socket, events: Int16(POLLIN), revents: 0),
      pollfd(fd: MainLoop.descriptor, events: Int16(POLLIN), revents: 0),
    ]
    // A signal that interrupts it is the host's.
    guard poll(&waiting, 2, -1) > 0 else { continue }
    if waiting[0].revents != 0 { serve() }
    if waiting[1].revents != 0 { MainLoop.performWork() }
  }
  return status ?? 0
}

@MainActor private final class Document {
  var hasChanges = true
  /// Shows a question on the screen, and waits for a key.
  func mayClose() async -> Bool { !hasChanges }
}

@MainActor private final class Editor {
  let document = Document()
}

extension Editor: ApplicationDelegate {
  func applicationShouldTerminate(
    _ application: Application, cause: LifecycleCause
  ) async -> TerminateReply {
    guard document.hasChanges else { return .now }
    return await document.mayClose() ? .now : .cancel
  }
}

/// The listings that can be run without being the program.
@MainActor @Suite(.timeLimit(.hang)) struct `The samples of a main of one's own` {
  @Test func `configure the budget of the service`() {
    #expect(DrainingService.configuration.willTerminateBudget == .seconds(20))
    #expect(
      DrainingService.configuration.didEnterBackgroundBudget == Application.Configuration().didEnterBackgroundBudget)
  }

  @Test func `take a guest through the life of its host, within its tear-downs`() async throws {
    let system = SimulatedSystem()
    let guest = Application(delegate: TrackerDelegate(), clock: system.clock)
    var record: [LifecycleRecord] = []
    let token = guest.observe { event in
      if let new = event.record, new.kind != .input, new.kind != .ignored { record.append(new) }
    }
    defer { token.cancel() }
    let subscriptions = embed(guest, in: system.application)
    try await system.play("launch; home; open; kill; launch:background; kill")
    withExtendedLifetime(subscriptions) {}
    let there: [ApplicationState] = [.inactive, .active, .inactive, .background]
    #expect(record.states == there + there + [.notRunning, .background, .notRunning])
    #expect(record.violations == [])
  }

  @Test func `refuse to end while there are changes`() async throws {
    let editor = Editor()
    let system = SimulatedSystem { editor }
    try await system.play("launch; quit")
    #expect(system.application.state == .active)
    editor.document.hasChanges = false
    try await system.play("quit")
    #expect(system.application.state == .notRunning)
  }
}
