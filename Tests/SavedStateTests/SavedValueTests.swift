import AppLifecycle
import AppLifecycleTesting
import PubSub
import TestTraits
import Testing

@testable import SavedState

/// An editor with a draft, as a client would write it.
@MainActor private final class Editor {
  nonisolated struct Draft: Codable, Sendable, Hashable { var text = "" }

  var draft: SavedValue<Draft>?
  var outcomes: [RestorationOutcome] = []
}

extension Editor: SavedStateDelegate {
  func applicationWillFinishLaunching(_ application: Application) {
    draft = try? application.savedState.value("draft", default: Draft())
  }
  func application(_ application: Application, didRestoreState outcome: RestorationOutcome) { outcomes.append(outcome) }
}

/// Saved values in the life of an application.
@MainActor @Suite(.timeLimit(.hang)) struct SavedValueTests {
  private func system() -> (SimulatedSystem, @MainActor () -> Editor) {
    let system = SimulatedSystem { Editor() }
    system.addAction("type") { [unowned system] in (system.application.delegate as? Editor)?.draft?.value.text += "a" }
    return (system, { [unowned system] in system.application.delegate as! Editor })
  }

  @Test(
    "what was typed is found after every kind of end",
    arguments: ["quit", "home; suspend; kill", "home; wait:1d; reclaim"])
  func findsWhatWasTyped(end: String) async throws {
    let (system, editor) = system()
    try await system.play("launch; do:type; do:type")
    #expect(editor().draft?.value.text == "aa")
    #expect(editor().outcomes == [.nothingThere])
    try await system.play(end)
    try #require(system.application.state == .notRunning)
    try await system.play("launch")
    #expect(editor().draft?.value.text == "aa")
    #expect(editor().outcomes == [.restored])
  }

  @Test("a crash finds the last save") func crash() async throws {
    let (system, editor) = system()
    try await system.play("launch; do:type; wait:31s; do:type; crash; launch")
    #expect(editor().draft?.value.text == "a")
  }

  @Test("what another application on the same bus does neither saves nor settles") func sharedBus() async throws {
    let (plan, bus) = (Probe.Plan(), EventBus())
    // The clock is the machine's: no autosave comes while the test runs.
    plan.configuration.autosaveInterval = .seconds(1_000_000)
    let probe = Probe(plan)
    let application = Application(delegate: probe, bus: bus)
    application.stateStorage = SimulatedStateStorage()
    await application.handle(.launchInBackground)
    let draft = try #require(probe.draft)
    draft.value = "a"
    (application.savedState.hasSettled, application.savedState.settling) = (false, nil)
    let other = Application(delegate: Probe(plan), bus: bus)
    other.stateStorage = SimulatedStateStorage()
    await other.handle(.launch)
    #expect(application.savedState.settling == nil)
    await other.handle(.terminate)
    #expect(draft.change == .changed)
    await application.handle(.terminate)
    #expect(draft.change == .none)
  }
}
