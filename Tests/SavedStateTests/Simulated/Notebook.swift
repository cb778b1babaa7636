import AppLifecycle
import AppLifecycleTesting
import PubSub
import SavedState

/// A program with windows, each with a page that the user types into; it counts its visits and its closings as it leaves.
@MainActor final class Notebook {
  private(set) var pages: [SceneIdentifier: SavedValue<String>] = [:]
  private(set) var title: SavedValue<String>?
  private(set) var visits: SavedValue<Int>?
  private(set) var closings: SavedValue<Int>?
  private(set) var outcomes: [RestorationOutcome] = []
  private var subscriptions: [EventBus.Subscription] = []

  func type(_ text: String, into scene: SceneIdentifier) { pages[scene]?.value += text }
  func retitle() { title?.value += "t" }
}

extension Notebook: SavedStateDelegate {
  func applicationWillFinishLaunching(_ application: Application) {
    title = try? application.savedState.value("title", default: "")
    visits = try? application.savedState.value("visits", default: 0)
    closings = try? application.savedState.value("closings", default: 0)
    let clock = application.clock
    let leaves = application.bus.receive(Application.DidEnterBackground.self, from: application) {
      [weak self] _ in
      try? await clock.sleep(for: .milliseconds(300))
      self?.visits?.value += 1
    }
    subscriptions = [leaves]
    _ = try? application.manage("page", while: .foreground) {
      "a page"
    } release: { [weak self] _ in
      try? await clock.sleep(for: .milliseconds(200))
      self?.closings?.value += 1
    }
  }

  func application(_ application: Application, didRestoreState outcome: RestorationOutcome) { outcomes.append(outcome) }

  func application(_ application: Application, delegateFor scene: Application.Scene) -> (any SceneDelegate)? {
    pages[scene.identifier] = try? scene.savedState.value("page", default: "")
    return nil
  }
}

extension Notebook {
  /// Everything that can be done to a notebook, with saves that are slow or fail.
  static let alphabet = """
    launch home open interrupt:call end:call lock unlock wait:100ms wait:6s wait:40s kill quit crash reclaim suspend wake \
    launch:background memory scene:open:b scene:background:b scene:reclaim:b scene:close:b scene:connect:b \
    do:type do:type-b do:title do:save do:slow slow:save:100ms slow:save:2s slow:save:6s fail:save \
    slow:didEnterBackground:4s slow:sceneDidEnterBackground:6s
    """

  /// Makes a device with a notebook, and what its user does.
  static func system(order: SimulationExecutor.Order = .fifo) -> SimulatedSystem {
    let system = SimulatedSystem(profile: .scenes, order: order) { Notebook() }
    let notebook = { [unowned system] in system.application.delegate as? Notebook }
    system.addAction("type") { notebook()?.type("a", into: .main) }
    system.addAction("type-b") { notebook()?.type("b", into: "b") }
    system.addAction("title") { notebook()?.retitle() }
    system.addAction("save") { [unowned system] in
      let application = system.application
      application.task { try await application.savedState.save() }
    }
    // Types during a save that it has asked for, and asks again.
    system.addAction("slow") { [unowned system] in
      let application = system.application
      application.task {
        async let first: Void = application.savedState.save()
        try await application.clock.sleep(for: .milliseconds(50))
        notebook()?.type("s", into: .main)
        notebook()?.retitle()
        async let second: Void = application.savedState.save()
        _ = try await (first, second)
      }
    }
    return system
  }
}
