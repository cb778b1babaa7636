import AppLifecycle
import UnixHost

/// The game's host: it tells the application what happens to its windows.
///
/// `ProcessHost` handles signals, memory, the clock, and code that exceeds its budget.
@MainActor final class GameHost {
  let application: Application
  private let (batches, reports) = AsyncStream.makeStream(of: [WindowEvent].self)

  init(application: Application) { self.application = application }

  /// Runs the program's life, from the launch to the end.
  ///
  /// - Returns: the exit status.
  func run() async -> Int32 {
    let feed = Task {
      for await batch in batches { await take(batch) }
    }
    defer { feed.cancel() }
    return await ProcessHost(application: application).run()
  }

  /// Queues the events since the previous call; the application gets them soon, in order.
  func report(_ batch: [WindowEvent]) { reports.yield(batch) }

  /// Sends the application the inputs for a batch of events, and returns when it has handled all of them.
  func take(_ batch: [WindowEvent]) async {
    for input in inputs(for: batch) { await application.handle(input) }
  }

  /// Translates a batch of events into inputs: only changes that the application does not know yet, in an order that avoids
  /// states in between.
  ///
  /// A window library reports first that one window has lost the focus, then that another has it. The application gets these
  /// inputs in the opposite order, so that it never lacks the focus while the player moves between its windows.
  private func inputs(for batch: [WindowEvent]) -> [SystemInput] {
    var shown: [SystemInput] = []
    var focused: [SystemInput] = []
    var unfocused: [SystemInput] = []
    var hidden: [SystemInput] = []
    var closed: [SystemInput] = []
    for scene in application.scenes {
      let window = scene.identifier
      let kinds = batch.filter { $0.window == window }.map(\.kind)
      if kinds.contains(.wasClosed) {
        closed.append(window == .main ? .terminate : .closeScene(window))
        continue
      }
      // Of several changes only the last one still holds.
      switch kinds.last(where: { $0 == .gainedFocus || $0 == .lostFocus }) {
      case .gainedFocus where !scene.hasFocus: focused.append(.focusScene(window))
      case .lostFocus where scene.hasFocus: unfocused.append(.unfocusScene(window))
      default: break
      }
      switch kinds.last(where: { $0 == .wasShown || $0 == .wasHidden }) {
      case .wasShown where scene.state == .background: shown.append(.openScene(window))
      case .wasHidden where scene.state.isForeground: hidden.append(.sendSceneToBackground(window))
      default: break
      }
    }
    return shown + focused + unfocused + hidden + closed
  }
}
