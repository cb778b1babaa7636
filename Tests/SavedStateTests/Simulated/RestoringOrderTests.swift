import AppLifecycle
import AppLifecycleTesting
import PubSub
import SavedState
import TestTraits
import Testing

/// What the delegate and a handler see of a value at each step of a launch.
@MainActor private final class Steps {
  var draft: SavedValue<String>?
  var log: [String] = []
  var subscription: EventBus.Subscription?

  func note(_ step: String) { log.append("\(step): \(draft?.value ?? "none")") }
}

extension Steps: SavedStateDelegate {
  func applicationWillFinishLaunching(_ application: Application) {
    draft = try? application.savedState.value("draft", default: "empty")
    subscription = application.bus.subscribe(to: Application.DidFinishLaunching.self) { [weak self] _ in
      self?.note("DidFinishLaunching")
    }
    note("will finish")
  }

  func applicationShouldRestoreState(_ application: Application) -> Bool {
    note("should restore")
    return true
  }

  func application(_ application: Application, didRestoreState outcome: RestorationOutcome) {
    note("\(outcome)")
  }

  func applicationDidFinishLaunching(_ application: Application) { note("did finish") }
}

/// The step of a launch at which state is restored.
@MainActor @Suite(.timeLimit(.hang)) struct RestoringOrderTests {
  @Test("state is restored between the two calls of a launch", arguments: ["launch", "launch:background"])
  func order(launch: String) async throws {
    let system = SimulatedSystem { Steps() }
    func steps() -> Steps? { system.application.delegate as? Steps }
    try await system.play(launch)
    #expect(
      steps()?.log == ["will finish: empty", "nothingThere: empty", "did finish: empty", "DidFinishLaunching: empty"])
    steps()?.draft?.value = "kept"
    try await system.play("kill; \(launch)")
    #expect(
      steps()?.log == [
        "will finish: empty", "should restore: empty", "restored: kept", "did finish: kept", "DidFinishLaunching: kept",
      ])
  }

  /// The order of a dictionary would change from one process of the machine to the next.
  @Test("values are restored in the order in which they were made") func orderOfValues() async throws {
    let keys = (0..<20).map { "\($0)" }
    var version = 0
    var restored: [String] = []
    let device = ProbeDevice { _, application in
      version += 1
      for key in keys {
        let value = try? application.savedState.value(key, default: 0, version: version) { older in
          restored.append(key)
          return try older.decode(Int.self)
        }
        value?.value += 1
      }
    }
    try await device.play("launch; kill; launch")
    #expect(restored == keys)
  }
}
