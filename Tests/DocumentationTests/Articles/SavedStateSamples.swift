import AppLifecycle
import AppLifecycleTesting
import PubSub
import SavedState
import Testing

// The listings of Sources/SavedState/SavedState.docc, word for word.

@MainActor final class NoteEditor {
  struct Draft: Codable, Sendable {
    var title = ""
    var text = ""
  }

  private let draft: SavedValue<Draft>

  init(application: Application) throws {
    draft = try application.savedState.value("draft", default: Draft())
  }

  func type(_ text: String) { draft.value.text += text }
}

extension NoteEditor {
  fileprivate var text: String { draft.value.text }
}

private struct Draft: Codable, Sendable {}

@MainActor private final class Overview {
  let draft: SavedValue<Draft>

  init(application: Application) throws {
    draft = try application.savedState.value("draft", default: Draft())
  }
}

@MainActor private final class ProblemView {
  private(set) var warning: String?

  init(bus: EventBus) {
    bus.subscribe(
      to: SavedState.ProblemDidChange.self, for: self, replay: .latest
    ) { view, state in
      view.warning = state.problem.map { "\($0)" }
    }
  }
}

@MainActor private final class AppDelegate {
  private(set) var notice: String?
}

extension AppDelegate: SavedStateDelegate {
  var savedStateConfiguration: SavedState.Configuration {
    .init(program: "Notes", autosaveInterval: .seconds(10))
  }

  func applicationShouldRestoreState(_ application: Application) -> Bool {
    !CommandLine.arguments.contains("--fresh")
  }

  func application(
    _ application: Application, didRestoreState outcome: RestorationOutcome
  ) {
    if case .setAside(let path, let reason, _) = outcome {
      notice = "\(reason): \(path)"
    }
  }
}

@MainActor private final class Window {
  var scroll: SavedValue<Int>?
}

extension Window: SceneDelegate {
  func sceneWillConnect(_ scene: Application.Scene) {
    scroll = try? scene.savedState.value("scroll", default: 0)
  }
}

@MainActor private final class Sheet {
  struct Size: Codable, Sendable { var points = 12 }

  let size: SavedValue<Size>

  init(application: Application) throws {
    size = try application.savedState.value("size", default: Size(), version: 2) { older in
      Size(points: try older.decode(Int.self))
    }
  }
}

@MainActor private final class NotesDelegate {
  var editor: NoteEditor?
}

extension NotesDelegate: ApplicationDelegate {
  func applicationWillFinishLaunching(_ application: Application) { editor = try? NoteEditor(application: application) }
}

@MainActor private final class EditorDelegate {
  var editor: NoteEditor?
}

extension EditorDelegate: SavedStateDelegate {
  func applicationDidFinishLaunching(_ application: Application) {
    do { editor = try NoteEditor(application: application) } catch {
      preconditionFailure("\(error)")
    }
  }
}

@MainActor private final class WindowsDelegate {}

extension WindowsDelegate: SavedStateDelegate {
  func applicationDidFinishLaunching(_ application: Application) {
    for session in application.openSessions where session.identifier != .main {
      application.send(.openScene(session.identifier))
    }
  }

  func application(_ application: Application, delegateFor scene: Application.Scene) -> (any SceneDelegate)? {
    Window()
  }
}

@MainActor @Suite struct `Where the user left off` {
  @Test func `the draft is found`() async throws {
    let system = SimulatedSystem { NotesDelegate() }
    system.addAction("type") { [unowned system] in
      (system.application.delegate as? NotesDelegate)?.editor?.type("a")
    }
    try await system.play("launch; do:type; home; wait:1d; reclaim; open")
    let notes = try #require(system.application.delegate as? NotesDelegate)
    #expect(notes.editor?.text == "a")
  }

  @Test func `a component that is made later finds it, too`() async throws {
    let system = SimulatedSystem { EditorDelegate() }
    func editor() -> NoteEditor? { (system.application.delegate as? EditorDelegate)?.editor }
    try await system.play("launch")
    editor()?.type("b")
    try await system.play("kill; launch")
    #expect(editor()?.text == "b")
  }

  @Test func `the windows that were open are opened again`() async throws {
    let system = SimulatedSystem(profile: .scenes) { WindowsDelegate() }
    try await system.play("launch; scene:open:second; kill; launch")
    #expect(system.application.scenes.map(\.identifier.rawValue) == ["main", "second"])
    try await system.play("scene:close:second; kill; launch")
    #expect(system.application.scenes.map(\.identifier.rawValue) == ["main"])
  }

  @Test func `a newer type takes the older value`() async throws {
    let system = SimulatedSystem()
    try await system.play("launch")
    let older = try system.application.savedState.value("size", default: 12)
    older.value = 14
    try await system.play("kill; launch")
    #expect(try Sheet(application: system.application).size.value.points == 14)
    #expect(try Overview(application: system.application).draft.key == "draft")
  }

  @Test func `a problem is shown, and goes`() async throws {
    let system = SimulatedSystem { AppDelegate() }
    let view = ProblemView(bus: system.bus)
    try await system.play("launch")
    let value = try system.application.savedState.value("number", default: 1.0)
    value.value = .nan
    try await system.play("home")
    #expect(view.warning?.contains("“number” is not saved") == true)
    value.value = 2
    try await system.play("open; home")
    #expect(view.warning == nil && (system.application.delegate as? AppDelegate)?.notice == nil)
  }

  @Test func `a window finds its values again until it is closed`() async throws {
    let system = SimulatedSystem(profile: .scenes) { WindowsDelegate() }
    func window() -> Window? { system.application.scenes.first?.delegate as? Window }
    try await system.play("launch")
    try #require(window()).scroll?.value = 7
    try await system.play("home; scene:reclaim:main; scene:open:main")
    #expect(window()?.scroll?.value == 7)
    try await system.play("home; scene:close:main; scene:open:main")
    #expect(window()?.scroll?.value == 0)
  }
}
