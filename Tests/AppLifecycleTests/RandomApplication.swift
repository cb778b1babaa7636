import AppLifecycle
import AppLifecycleTesting
import PubSub
import Scheduling

/// A program that does at random all that programs do, and notes what must never happen to it.
///
/// It is the delegate; it subscribes, synchronously and asynchronously, holds resources that depend on each other and fail,
/// runs bodies, begins background tasks, and hands in inputs from everywhere.
@MainActor final class RandomApplication {
  struct Failure: Error {}

  let chance: Chance
  let script: RandomScript
  let system: SimulatedSystem
  private var observation: ObserverToken?
  /// What has begun and not ended.
  private(set) var calls = CallBalance()
  /// What was done, with its time.
  private(set) var notes: [String] = []
  /// What must not have happened.
  var faults: [String] = []
  /// From now on nothing fails, takes time or hands in inputs.
  var isCalm = false
  /// How many inputs were handed in from inside.
  private(set) var handedIn = 0
  /// How often each interesting thing has happened.
  private(set) var counts: [String: Int] = [:]
  /// Grows with each process.
  private(set) var process = 0
  var resources: [RandomResource] = []
  var bodies: [RandomBody] = []
  private var subscriptions: [EventBus.Subscription] = []
  private var backgroundTasks: [Application.BackgroundTask] = []
  private var backgroundModes: [BackgroundModeAssertion] = []
  private let forwarder = RandomDelegate()
  /// Whether the present process was told of its end, and no code was late then.
  private var endsInOrder = false

  var application: Application { system.application }
  var clock: ManualClock { system.clock }
  var tasks: TaskStarter { TaskStarter(clock: clock) }

  init(seed: UInt64, profile: LifecycleProfile) throws {
    chance = Chance(seed: seed)
    script = RandomScript(chance: chance, profile: profile)
    var configuration = Application.Configuration()
    configuration.callsDidEnterBackgroundOnBackgroundLaunch = chance.once(in: 2)
    system = SimulatedSystem(
      profile: profile, configuration: configuration, order: chance.once(in: 3) ? .fifo : .seeded(seed)
    ) { [forwarder] in forwarder }
    // The test is the program: what it registers while a process runs stays, too.
    system.application.makeDelegate = nil
    forwarder.program = self
    observation = system.application.observe { [weak self] in self?.observe($0) }
    try manageResources()
    startBodies()
    subscribe()
  }

  func note(_ text: String) { notes.append("\(text) at \(clock.now.offset)") }
  func count(_ what: String) { counts[what, default: 0] += 1 }
  func fault(_ text: String) { faults.append("\(text) at \(clock.now.offset), record \(system.record.count)") }

  /// Nothing is left behind.
  func end() async throws {
    subscriptions = []
    for body in bodies { body.caller?.cancel() }
    try await clock.run(limit: .seconds(600))
  }

  private func observe(_ event: TraceEvent) {
    calls.take(event)
    if let record = event.record { observe(record) }
  }

  private func observe(_ record: LifecycleRecord) {
    switch record.kind {
    case .delegate where record.name == ApplicationCallback.willTerminate.rawValue: endsInOrder = true
    case .report where record.name.hasPrefix("watchdog:"):
      endsInOrder = false
      if record.name.hasSuffix("applicationShouldTerminate") { handedIn += 1 }
      for resource in resources where record.name == "watchdog:\(resource.name)" { resource.isLate = true }
      for body in bodies where record.name == "watchdog:\(body.name)" { body.isLate = true }
      count("watchdog")
    case .state where record.state == .notRunning:
      if endsInOrder {
        count("ends in order")
        for resource in resources where resource.status != .idle {
          fault("\(resource.name) is \(resource.status) at the end")
        }
        for body in bodies where body.process == process && !body.isLate { fault("\(body.name) runs at the end") }
      }
      process += 1
      for resource in resources { (resource.status, resource.isLate) = (.idle, false) }
      backgroundTasks = []
      backgroundModes = []
      endsInOrder = false
    default: break
    }
  }
}

// MARK: - What it does

extension RandomApplication {
  /// Does something at once, from a delegate's method or from a synchronous handler.
  func act(_ place: String) {
    note(place)
    guard !isCalm else { return }
    switch chance.number(0..<60) {
    case 0, 1: if mayHandIn() { application.send(script.input()) }
    case 2: if mayHandIn() { startHandling(script.input()) }
    case 3, 4: clock.passWithoutWaking(.milliseconds(chance.number(1..<400)))
    case 5: if chance.once(in: 6) { clock.passWithoutWaking(.milliseconds(chance.number(400..<6_000))) }
    case 6: backgroundTasks.append(application.beginBackgroundTask(named: "own"))
    case 7: if !backgroundTasks.isEmpty { chance.pick(backgroundTasks).end() }
    case 8: backgroundModes.append(application.beginBackgroundMode())
    case 9, 10: backgroundModes.popLast()?.end()
    case 11: perform()
    default: break
    }
  }

  /// Takes its time, or none; throws where it is cancelled, unless it is deaf to that, and sometimes for no reason.
  func work(_ place: String) async throws {
    note(place)
    guard !isCalm else { return }
    if chance.once(in: 20), mayHandIn() { application.send(script.input()) }
    if chance.once(in: 30), mayHandIn() {
      let outcome = await application.handle(script.input()).outcome
      note("\(place), \(outcome)")
    }
    let duration: Duration
    switch chance.number(0..<40) {
    case 0..<16: return
    case 16..<22: return await elsewhere()
    case 22..<37: duration = .milliseconds(chance.number(1..<800))
    case 37, 38: duration = .milliseconds(chance.number(800..<3_000))
    default: duration = .seconds(chance.number(3..<20))
    }
    if chance.once(in: 3) {
      await deafSleep(duration)
    } else {
      try await clock.sleep(for: duration)
    }
    if chance.once(in: 10), !isCalm { throw Failure() }
  }

  /// Whether the application may end: at once or after a while, and sometimes not within its time.
  func answer() async -> TerminateReply {
    act("shouldTerminate")
    // An end that follows was handed in from inside.
    defer { handedIn += 1 }
    guard !isCalm else { return .now }
    count("questions")
    if chance.once(in: 2) { try? await work("shouldTerminate") }
    if chance.once(in: 10) { await deafSleep(.seconds(40)) }
    return chance.once(in: 2) ? .now : .cancel
  }

  private func deafSleep(_ duration: Duration) async {
    await tasks.start { [clock] in try? await clock.sleep(for: duration) }.value
  }

  /// Finishes something in the background, which may hand in inputs, also to the application that waits for it.
  private func perform() {
    count("operations")
    application.performBackgroundTask(named: "operation") { [weak self] in
      do { try await self?.work("operation") } catch { self?.note("operation: \(error)") }
    }
  }

  /// The transitions of one run are to have an end.
  private func mayHandIn() -> Bool {
    guard handedIn < 60 else { return false }
    handedIn += 1
    return true
  }

  private func startHandling(_ input: LifecycleInput) {
    tasks.start { await self.handle(input) }
  }

  private func handle(_ input: LifecycleInput) async {
    let outcome = await application.handle(input).outcome
    note("\(input.scriptToken): \(outcome)")
  }

  @concurrent private nonisolated func elsewhere() async { await Task.yield() }
}

// MARK: - Its subscribers

extension RandomApplication {
  private func subscribe() {
    listen(to: Application.DidFinishLaunching.self)
    listen(to: Application.DidBecomeActive.self)
    listen(to: Application.WillResignActive.self)
    listen(to: Application.DidEnterBackground.self)
    listen(to: Application.WillEnterForeground.self)
    listen(to: Application.WillTerminate.self)
    listen(to: Application.DidReceiveMemoryWarning.self)
    listen(to: Application.SignificantTimeChange.self)
    listen(to: Application.StateDidChange.self)
    listen(to: Application.ResourceDidChange.self)
    listen(to: Application.Scene.WillConnect.self)
    listen(to: Application.Scene.DidActivate.self)
    listen(to: Application.Scene.WillDeactivate.self)
    listen(to: Application.Scene.DidEnterBackground.self)
    listen(to: Application.Scene.DidDisconnect.self)
  }

  private func listen<E: MainActorEvent>(to type: E.Type) {
    for number in 0..<chance.number(0..<3) {
      let name = "\(E.name.rawValue) \(number)"
      let priority = chance.pick([EventBus.Priority.low, .normal, .normal, .high])
      let isAsynchronous = chance.once(in: 2)
      let subscription =
        isAsynchronous
        ? system.bus.receive(E.self, priority: priority, label: name) { [weak self] _ in
          try await self?.work(name)
        }
        : system.bus.subscribe(to: E.self, priority: priority, label: name) { [weak self] _ in self?.act(name) }
      subscriptions.append(subscription)
    }
  }
}

// MARK: - Its delegates

/// Stands for the program as the delegate of the application and of every scene.
@MainActor private final class RandomDelegate {
  weak var program: RandomApplication?
  func act(_ place: String) { program?.act(place) }
}

extension RandomDelegate: ApplicationDelegate {
  func applicationWillFinishLaunching(_ application: Application) { act("willFinishLaunching") }
  func applicationDidFinishLaunching(_ application: Application) { act("didFinishLaunching") }
  func applicationDidBecomeActive(_ application: Application) { act("didBecomeActive") }
  func applicationWillResignActive(_ application: Application) { act("willResignActive") }
  func applicationDidEnterBackground(_ application: Application) { act("didEnterBackground") }
  func applicationWillEnterForeground(_ application: Application) { act("willEnterForeground") }
  func applicationShouldTerminate(_ application: Application, cause: LifecycleCause) async -> TerminateReply {
    await program?.answer() ?? .now
  }
  func applicationWillTerminate(_ application: Application) { act("willTerminate") }
  func applicationDidReceiveMemoryWarning(_ application: Application) { act("didReceiveMemoryWarning") }
  func applicationSignificantTimeChange(_ application: Application) { act("significantTimeChange") }
  func applicationProtectedDataWillBecomeUnavailable(_ application: Application) { act("protectedDataWillGo") }
  func applicationProtectedDataDidBecomeAvailable(_ application: Application) { act("protectedDataDidCome") }
  func application(_ application: Application, delegateFor scene: Application.Scene) -> (any SceneDelegate)? { self }
}

extension RandomDelegate: SceneDelegate {
  func sceneWillConnect(_ scene: Application.Scene) { act("sceneWillConnect") }
  func sceneWillEnterForeground(_ scene: Application.Scene) { act("sceneWillEnterForeground") }
  func sceneDidBecomeActive(_ scene: Application.Scene) { act("sceneDidBecomeActive") }
  func sceneWillResignActive(_ scene: Application.Scene) { act("sceneWillResignActive") }
  func sceneDidEnterBackground(_ scene: Application.Scene) { act("sceneDidEnterBackground") }
  func sceneDidDisconnect(_ scene: Application.Scene) { act("sceneDidDisconnect") }
}
