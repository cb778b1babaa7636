import AppLifecycle
import UnixHost

/// The game's host: it tells the application what happens to its windows.
///
/// `ProcessHost` handles signals, memory, the clock, and code that exceeds its budget.
@MainActor final class GameHost {
  let application: Application
  /// The scenes that are about to close: a late event must not open one again.
  private var closing: [Application.Scene] = []

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

  /// Translates a batch of events into inputs, in an order that avoids states in between; the application ignores what it knows.
  ///
  /// A window library reports first that one window has lost the focus, then that another has it. The application gets these
  /// inputs in the opposite order, so that it never lacks the focus while the player moves between its windows.
  private func inputs(for batch: [WindowEvent]) -> [SystemInput] {
    var shown: [SystemInput] = []
    var focused: [SystemInput] = []
    var unfocused: [SystemInput] = []
    var hidden: [SystemInput] = []
    var closed: [SystemInput] = []
    let scenes = application.scenes
    closing.removeAll { old in !scenes.contains { $0 === old } }
    for scene in scenes where !closing.contains(where: { $0 === scene }) {
      let window = scene.identifier
      let kinds = batch.filter { $0.window == window }.map(\.kind)
      if kinds.contains(.wasClosed) {
        if window != .main { closing.append(scene) }
        closed.append(window == .main ? .terminate : .closeScene(window))
        continue
      }
      // Of several changes only the last one still holds.
      switch kinds.last(where: { $0 == .gainedFocus || $0 == .lostFocus }) {
      case .gainedFocus: focused.append(.focusScene(window))
      case .lostFocus: unfocused.append(.unfocusScene(window))
      default: break
      }
      switch kinds.last(where: { $0 == .wasShown || $0 == .wasHidden }) {
      case .wasShown: shown.append(.openScene(window))
      case .wasHidden: hidden.append(.sendSceneToBackground(window))
      default: break
      }
    }
    return shown + focused + unfocused + hidden + closed
  }
}
