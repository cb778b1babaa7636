import AppLifecycle
import UnixHost

/// The game's host: it tells the application what happens to its windows.
///
/// `ProcessHost` handles signals, memory, the clock, and code that exceeds its budget.
@MainActor final class GameHost {
  let application: Application
  /// What the host knows of a window: the application gets only what changes.
  fileprivate struct Window {
    let scene: Application.Scene
    var isShown: Bool
    var hasFocus: Bool
    /// Whether its scene is about to close: a late event must not open it again.
    var isClosing = false
  }
  private var windows: [Window] = []

  init(application: Application) { self.application = application }

  /// Runs the program's life, from the launch to the end.
  ///
  /// - Returns: the exit status.
  func run() async -> Int32 { await ProcessHost(application: application).run() }

  /// Sends the application the inputs for the events since the previous call.
  ///
  /// The host does not wait for the transitions, so that a window that is shown again shortens a tear-down that is in progress.
  func take(_ batch: [WindowEvent]) {
    for input in inputs(for: batch) { application.send(input) }
  }

  /// Translates a batch of events into inputs, in an order that avoids states in between.
  ///
  /// A window library reports first that one window has lost the focus, then that another has it. The application gets these
  /// inputs in the opposite order, so that it never lacks the focus while the player moves between its windows.
  private func inputs(for batch: [WindowEvent]) -> [SystemInput] {
    var shown: [SystemInput] = []
    var focused: [SystemInput] = []
    var unfocused: [SystemInput] = []
    var hidden: [SystemInput] = []
    var closed: [SystemInput] = []
    followScenes()
    for index in windows.indices where !windows[index].isClosing {
      let window = windows[index].scene.identifier
      let kinds = batch.filter { $0.window == window }.map(\.kind)
      if kinds.contains(.wasClosed) {
        windows[index].isClosing = window != .main
        closed.append(window == .main ? .terminate : .closeScene(window))
        continue
      }
      // Of several changes only the last one still holds.
      switch kinds.last(where: { $0 == .gainedFocus || $0 == .lostFocus }) {
      case .gainedFocus where !windows[index].hasFocus: focused.append(.focusScene(window))
      case .lostFocus where windows[index].hasFocus: unfocused.append(.unfocusScene(window))
      default: break
      }
      switch kinds.last(where: { $0 == .wasShown || $0 == .wasHidden }) {
      case .wasShown where !windows[index].isShown: shown.append(.openScene(window))
      case .wasHidden where windows[index].isShown: hidden.append(.sendSceneToBackground(window))
      default: break
      }
      for kind in kinds { windows[index].note(kind) }
    }
    return shown + focused + unfocused + hidden + closed
  }

  /// Forgets the windows of closed scenes, and begins with what the application knows of new ones.
  private func followScenes() {
    let scenes = application.scenes
    windows.removeAll { window in !scenes.contains { $0 === window.scene } }
    for scene in scenes where !windows.contains(where: { $0.scene === scene }) {
      windows.append(Window(scene: scene, isShown: scene.state.isForeground, hasFocus: scene.hasFocus))
    }
  }
}

extension GameHost.Window {
  fileprivate mutating func note(_ kind: WindowEvent.Kind) {
    switch kind {
    case .gainedFocus, .lostFocus: hasFocus = kind == .gainedFocus
    case .wasShown, .wasHidden: isShown = kind == .wasShown
    case .wasClosed: break
    }
  }
}
