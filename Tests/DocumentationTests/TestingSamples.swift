import AppLifecycle
import AppLifecycleTestSupport
import AppLifecycleTesting
import PubSub
import Testing

// The samples of Sources/AppLifecycleTesting/AppLifecycleTesting.docc/TestingInFiveMinutes.md, in its order. DocumentationTests compares them word for word.

@MainActor private protocol Backend {
  func open() async throws -> any BackendConnection
}

@MainActor private protocol BackendConnection: Sendable {
  func close()
}

@MainActor private final class ServerDouble: Backend {
  private let balance: ResourceBalance

  init(_ balance: ResourceBalance) { self.balance = balance }

  func open() async throws -> any BackendConnection {
    balance.opened("connection")
    return ConnectionDouble(balance)
  }
}

@MainActor private final class ConnectionDouble: BackendConnection {
  private let balance: ResourceBalance

  init(_ balance: ResourceBalance) { self.balance = balance }

  func close() { balance.closed("connection") }
}

@MainActor private final class AppDelegate {
  private let backend: any Backend
  private(set) var returns = 0

  init(_ backend: any Backend) { self.backend = backend }
}

extension AppDelegate: ApplicationDelegate {
  func applicationDidFinishLaunching(_ application: Application) {
    _ = try? application.manage("connection", while: .foreground) { [backend] in
      try await backend.open()
    } release: { connection in
      connection.close()
    }
  }

  func applicationWillEnterForeground(_ application: Application) { returns += 1 }
}

@MainActor private final class FileDouble {
  var text = ""
}

@MainActor private final class NotesDelegate {
  var text: String
  private let file: FileDouble

  init(_ file: FileDouble) { (self.file, text) = (file, file.text) }
}

extension NotesDelegate: ApplicationDelegate {
  func applicationDidEnterBackground(_ application: Application) { file.text = text }

  func applicationWillTerminate(_ application: Application) { file.text = text }
}

@MainActor private final class ForgetfulDelegate {
  var text: String
  private let file: FileDouble

  init(_ file: FileDouble) { (self.file, text) = (file, file.text) }
}

extension ForgetfulDelegate: ApplicationDelegate {
  func applicationWillTerminate(_ application: Application) { file.text = text }
}

@Suite @MainActor struct `The samples of the page on testing` {
  @Test @MainActor func `A day in the background`() async throws {
    let system = SimulatedSystem()
    let model = DueDateModel(bus: system.bus) {
      142 + Int(system.clock.now.offset / .seconds(86_400))
    }
    try await system.play("launch; home; wait:1d")
    #expect(model.label == "day 142 of 280")
    try await system.play("open")
    #expect(model.label == "day 143 of 280")
    #expect(
      system.record.callbacks.suffix(2) == [
        "willEnterForeground (background)", "didBecomeActive (active)",
      ])
    #expect(system.record.violations.isEmpty)
  }

  @Test(.simulatedSystem) @MainActor
  func `the label is fresh after a day`() async throws {
    let system = try SimulatedSystem.current
    let model = DueDateModel(bus: system.bus) {
      142 + Int(system.clock.now.offset / .seconds(86_400))
    }
    try await system.play("launch; home; wait:1d; open")
    #expect(model.label == "day 143 of 280")
  }

  @Test(
    .simulatedSystem { balance in
      let server = ServerDouble(balance)
      return SimulatedSystem { AppDelegate(server) }
    })
  @MainActor func `leaves no connection open`() async throws {
    let system = try SimulatedSystem.current
    try await system.play("launch; home; open; lock")
    #expect(try ResourceBalance.current.open.isEmpty)
  }

  @Test(.simulatedSystem(allowing: [.backgroundTask]))
  @MainActor func `an upload that is not finished is given up`() async throws {
    let system = try SimulatedSystem.current
    try await system.play("launch; task:begin:upload; home; wait:1m")
    #expect(system.record.contains { $0.name == "backgroundTimeExpired:upload" })
  }

  @Test(.simulatedSystem(allowing: [.overrun]))
  @MainActor func `a late release ends the process`() async throws {
    let application = try SimulatedSystem.current.application
    let database = try application.manage("database", while: .running) { "a database" }
    try application.manage("feed", while: .foreground, after: database) { database in
      "a feed of \(database)"
    } release: { _ in
      try await application.clock.sleep(for: .seconds(6))
    }
    try await SimulatedSystem.current.play("launch; home")
    #expect(application.ledger.overruns.map(\.culprits) == [["feed"]])
    #expect(try SimulatedSystem.current.record.contains { $0.name == "watchdog:feed" })
    // Killed: the database was not released, and willTerminate was not called.
    #expect(application.state == .notRunning && database.current == nil)
  }

  @Test @MainActor func `No short script breaks the program`() async throws {
    try await checkAllScripts(upTo: 4) { run in
      let server = ServerDouble(run.balance)
      let system = SimulatedSystem { AppDelegate(server) }
      run.afterEachAction {
        let isConnected = run.balance.open["connection"] == 1
        run.expect(system.application.state != .active || isConnected, "not connected")
      }
      return system
    }
  }

  @Test @MainActor func `No long script breaks the program`() async throws {
    let seed = UInt64.random(in: 0 ... .max)
    try await checkRandomScripts(seed: seed, count: 100, length: 30) { run in
      let server = ServerDouble(run.balance)
      return SimulatedSystem(order: run.order) { AppDelegate(server) }
    }
  }

  @Test @MainActor func `No short script loses a note`() async throws {
    let alphabet = "\(ScriptAlphabet.standard) crash do:type"
    try await checkAllScripts(upTo: 4, alphabet: alphabet) { run in
      let file = FileDouble()
      var notes: NotesDelegate!
      let system = SimulatedSystem(order: run.order) {
        notes = NotesDelegate(file)
        return notes
      }
      system.addAction("type") { [unowned system] in
        if system.application.state.isForeground { notes.text += "a" }
      }
      run.afterEachAction {
        let state = system.application.state
        let mustBeSaved = state.isInMemory ? !state.isForeground : system.hasEndedInOrder
        run.expect(!mustBeSaved || file.text == notes.text, "the note was not saved")
      }
      return system
    }
  }

  /// The check above finds what it is for: a program that saves only at its end loses the note when it is killed while
  /// suspended.
  @Test @MainActor func `A program that saves only at its end loses a note`() async throws {
    let checker = try ScriptChecker(alphabet: "\(ScriptAlphabet.standard) crash do:type") { run in
      let file = FileDouble()
      var notes: ForgetfulDelegate!
      let system = SimulatedSystem(order: run.order) {
        notes = ForgetfulDelegate(file)
        return notes
      }
      system.addAction("type") { [unowned system] in
        if system.application.state.isForeground { notes.text += "a" }
      }
      run.afterEachAction {
        let state = system.application.state
        let mustBeSaved = state.isInMemory ? !state.isForeground : system.hasEndedInOrder
        run.expect(!mustBeSaved || file.text == notes.text, "the note was not saved")
      }
      return system
    }
    let failure = try await checker.checkAll(upTo: 4).failure
    #expect(failure?.script == "launch; do:type; home", "\(String(describing: failure))")
  }

  @Test @MainActor func `A call during the return`() async throws {
    try await checkScript("launch; home; interrupt:call; open") { run in
      let server = ServerDouble(run.balance)
      return SimulatedSystem { AppDelegate(server) }
    }
  }

  @Test @MainActor
  func `The host's record is that of the simulated system`() async throws {
    let hosted = try await withSimulation { @MainActor clock in
      let delegate = AppDelegate(ServerDouble(ResourceBalance()))
      let application = Application(delegate: delegate, clock: clock)
      var record: [LifecycleRecord] = []
      let token = application.observe { if let new = $0.record { record.append(new) } }
      defer { token.cancel() }
      let device = Device()
      let run = Task(executorPreference: clock.executor) {
        await DeviceHost(application).run(device)
      }
      await clock.settle()  // the application has launched
      for event in [DeviceHost.Event.ring, .hangUp, .sleep, .wake, .sleep, .powerOff] {
        device.report(event)
        await clock.settle()  // all that follows from the event has run
      }
      #expect(await run.value == 0)
      return record
    }
    let script = """
      launch; interrupt:call; end:call; home; suspend
      open; home; suspend; wake; kill
      """
    let system = SimulatedSystem { AppDelegate(ServerDouble(ResourceBalance())) }
    let simulated = try await system.play(script)
    func withoutCause(_ record: LifecycleRecord) -> LifecycleRecord {
      var record = record
      record.cause = ""
      return record
    }
    #expect(hosted.map(withoutCause) == simulated.map(withoutCause))
  }

  /// What the page shows of a failure is what is printed.
  @Test @MainActor func `a failure reads as the page shows it`() async throws {
    let checker = try ScriptChecker { run in
      let system = SimulatedSystem { AppDelegate(ServerDouble(run.balance)) }
      // The fault: where the user returns during a call, something else opens the connection first.
      system.bus.subscribe(to: Application.WillEnterForeground.self, for: run) { run, event in
        if event.application.deactivationReasons.contains(.call) { run.balance.opened("connection") }
      }
      return system
    }
    let failure = try #require(try await checker.checkAll(upTo: 4).failure)
    let page = try Documentation.text(
      of: "Sources/AppLifecycleTesting/AppLifecycleTesting.docc/TestingInFiveMinutes.md")
    let blocks = Documentation.blocks(in: page, language: "text")
    #expect(blocks.contains("\(failure)".split(separator: "\n").map(String.init)), "\(failure)")
  }
}
