import AppLifecycle
import PubSub
import TestTraits
import Testing

/// Notes every callback and the state in which it was called.
@MainActor final class NotingDelegate {
  var notes: [String] = []
  var onCallback: ((ApplicationCallback, Application) -> Void)?
  func note(_ callback: ApplicationCallback, _ application: Application) {
    notes.append("\(callback.shortName) (\(application.state))")
    onCallback?(callback, application)
  }
}

extension NotingDelegate: ApplicationDelegate {
  func applicationWillFinishLaunching(_ application: Application) { note(.willFinishLaunching, application) }
  func applicationDidFinishLaunching(_ application: Application) { note(.didFinishLaunching, application) }
  func applicationDidBecomeActive(_ application: Application) { note(.didBecomeActive, application) }
  func applicationWillResignActive(_ application: Application) { note(.willResignActive, application) }
  func applicationDidEnterBackground(_ application: Application) { note(.didEnterBackground, application) }
  func applicationWillEnterForeground(_ application: Application) { note(.willEnterForeground, application) }
  func applicationWillTerminate(_ application: Application) { note(.willTerminate, application) }
  func applicationDidReceiveMemoryWarning(_ application: Application) { note(.didReceiveMemoryWarning, application) }
  func applicationSignificantTimeChange(_ application: Application) { note(.significantTimeChange, application) }
  func applicationProtectedDataWillBecomeUnavailable(_ application: Application) {
    note(.protectedDataWillBecomeUnavailable, application)
  }
  func applicationProtectedDataDidBecomeAvailable(_ application: Application) {
    note(.protectedDataDidBecomeAvailable, application)
  }
}

@MainActor @Suite struct `An application` {
  let delegate = NotingDelegate()
  let application: Application
  let bus: EventBus

  init() {
    application = Application(delegate: delegate)
    bus = application.bus
  }

  private func play(_ inputs: SystemInput...) async { for input in inputs { _ = await application.handle(input) } }

  @Test func `calls its delegate in the state of section 2`() async {
    await play(.launch, .home, .suspend, .significantTimeChange, .open, .memoryWarning, .terminate)
    #expect(
      delegate.notes == [
        "willFinishLaunching (inactive)", "didFinishLaunching (inactive)", "didBecomeActive (active)",
        "willResignActive (active)", "didEnterBackground (background)", "willEnterForeground (background)",
        "significantTimeChange (inactive)", "didBecomeActive (active)", "didReceiveMemoryWarning (active)",
        "willResignActive (active)", "didEnterBackground (background)", "willTerminate (background)",
      ])
    #expect(application.state == .notRunning)
  }

  @Test func `posts each notification right after its delegate call, under the platform's raw name`() async {
    let everything = bus.subscribeToAll { [delegate] event in
      guard !(event is Application.StateDidChange) else { return }
      MainActor.assumeIsolated { delegate.notes.append(type(of: event).name.rawValue) }
    }
    await play(.setPasscode(true), .launch, .lock, .unlock, .significantTimeChange, .memoryWarning, .terminate)
    withExtendedLifetime(everything) {}
    #expect(
      delegate.notes == [
        "willFinishLaunching (inactive)",
        "didFinishLaunching (inactive)", "UIApplicationDidFinishLaunchingNotification",
        "didBecomeActive (active)", "UIApplicationDidBecomeActiveNotification",
        "willResignActive (active)", "UIApplicationWillResignActiveNotification",
        "didEnterBackground (background)", "UIApplicationDidEnterBackgroundNotification",
        "protectedDataWillBecomeUnavailable (background)", "UIApplicationProtectedDataWillBecomeUnavailable",
        "protectedDataDidBecomeAvailable (background)", "UIApplicationProtectedDataDidBecomeAvailable",
        "willEnterForeground (background)", "UIApplicationWillEnterForegroundNotification",
        "didBecomeActive (active)", "UIApplicationDidBecomeActiveNotification",
        "significantTimeChange (active)", "UIApplicationSignificantTimeChangeNotification",
        "didReceiveMemoryWarning (active)", "UIApplicationDidReceiveMemoryWarningNotification",
        "willResignActive (active)", "UIApplicationWillResignActiveNotification",
        "didEnterBackground (background)", "UIApplicationDidEnterBackgroundNotification",
        "willTerminate (background)", "UIApplicationWillTerminateNotification",
      ])
  }

  @Test func `posts tear-down in reverse: what was built last goes first`() async {
    let subscriptions = [1, 2, 3].map { number in
      bus.subscribe(to: Application.DidEnterBackground.self) { [delegate] _ in delegate.notes.append("\(number)") }
    }
    await play(.launch, .home)
    withExtendedLifetime(subscriptions) {}
    #expect(delegate.notes.suffix(3) == ["3", "2", "1"])
  }

  @Test func `tells with each notification from where, to where, why, and how long it was away`() async {
    var steps: [String] = []
    func note(_ event: some ApplicationEvent) {
      let step = event.transition
      let away = step.excursion.map { ", away as far as \($0.deepestState)" } ?? ""
      steps.append("\(step.from) → \(step.to), \(step.cause.rawValue)\(away)")
    }
    let subscriptions = [
      bus.subscribe(to: Application.DidFinishLaunching.self) { note($0) },
      bus.subscribe(to: Application.DidBecomeActive.self) { note($0) },
      bus.subscribe(to: Application.WillResignActive.self) { note($0) },
      bus.subscribe(to: Application.DidEnterBackground.self) { note($0) },
      bus.subscribe(to: Application.WillEnterForeground.self) { note($0) },
      bus.subscribe(to: Application.WillTerminate.self) { note($0) },
    ]
    await play(.launch, .beginInterruption(.call), .endInterruption(.call), .home, .suspend)
    _ = await application.handle(.open, cause: "fg")
    _ = await application.handle(.terminate, cause: "SIGTERM")
    withExtendedLifetime(subscriptions) {}
    #expect(
      steps == [
        "notRunning → inactive, launch",
        "inactive → active, launch",
        "active → inactive, interrupt:call, away as far as inactive",
        "inactive → active, end:call, away as far as inactive",
        "active → inactive, home, away as far as inactive",
        "inactive → background, home, away as far as background",
        "background → inactive, fg, away as far as suspended",
        "inactive → active, fg, away as far as suspended",
        "active → inactive, SIGTERM, away as far as inactive",
        "inactive → background, SIGTERM, away as far as background",
        "background → notRunning, SIGTERM, away as far as background",
      ])
  }

  @Test func `keeps its state for late subscribers`() async {
    await play(.launch, .home)
    var states: [ApplicationState] = []
    let late = bus.subscribe(to: Application.StateDidChange.self, replay: .latest) { states.append($0.transition.to) }
    await play(.open)
    withExtendedLifetime(late) {}
    #expect(states == [.background, .inactive, .active])
  }

  @Test func `is active only while no reason stands, and says which do`() async {
    var seen: [Set<DeactivationReason>] = []
    delegate.onCallback = { _, application in seen.append(application.deactivationReasons) }
    await play(.launch, .beginInterruption(.call), .beginInterruption("alert"), .endInterruption(.call))
    #expect(application.state == .inactive)
    #expect(application.deactivationReasons == ["alert"])
    await play(.endInterruption("alert"))
    #expect(application.state == .active)
    #expect(seen == [[.launching], [.launching], [], [.call], []])
  }

  @Test func `says why it was launched`() async {
    #expect(application.launchCause == nil)
    await play(.fetch)
    #expect(application.launchCause == "fetch")
    #expect(application.state == .background)
  }

  @Test func `ignores what it cannot take, with a reason`() async {
    let report = await application.handle(.home)
    #expect(report.outcome == .ignored(reason: .notInForeground))
    #expect(delegate.notes == [])
  }

  @Test func `runs inputs sent from inside a callback after the transition, in order`() async {
    delegate.onCallback = { callback, application in
      guard callback == .didFinishLaunching else { return }
      application.send(.beginInterruption(.call))
      application.send(.endInterruption(.call))
    }
    await play(.launch)
    // The queue is first come, first served: this one ends behind those that the callback sent.
    _ = await application.handle(.memoryWarning)
    #expect(
      delegate.notes == [
        "willFinishLaunching (inactive)", "didFinishLaunching (inactive)", "didBecomeActive (active)",
        "willResignActive (active)", "didBecomeActive (active)", "didReceiveMemoryWarning (active)",
      ])
  }

  @Test(.timeLimit(.hang))
  func `is released when no code holds it, though its bus keeps its latest state`() async {
    final class Mortal: ApplicationDelegate {
      let (died, death) = AsyncStream.makeStream(of: Never.self)
      deinit { death.finish() }
    }
    let bus = EventBus()
    let died = await { () async in
      let delegate = Mortal()
      let application = Application(delegate: delegate, bus: bus)
      _ = await application.handle(.launch)
      return delegate.died
    }()
    // The application is the only one to keep its delegate; this ends with both.
    for await _ in died {}
    var states: [ApplicationState] = []
    let late = bus.subscribe(to: Application.StateDidChange.self, replay: .latest) { states.append($0.transition.to) }
    withExtendedLifetime(late) {}
    #expect(states == [], "no application is there to report a state")
  }
}
