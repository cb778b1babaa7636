public import AppLifecycle
import LifecycleJournal

extension Application {
  /// The state that the program's next process finds again.
  ///
  ///     let draft = try application.savedState.value("draft", default: Draft())
  ///
  /// The first use in a process makes it. It is restored right after `applicationWillFinishLaunching` if the delegate is a
  /// ``SavedStateDelegate``, or if it was used before that step; used later for the first time, it is restored at once.
  public var savedState: SavedState {
    if let state = stateKeeper as? SavedState { return state }
    let configuration = (delegate as? any SavedStateDelegate)?.savedStateConfiguration ?? .init()
    // An empty name mostly comes from a variable that is not set, and would make the state every program's.
    let program = configuration.program.flatMap { $0.isEmpty ? nil : $0 } ?? RunFacts.ofThisProcess().program
    let state = SavedState(
      of: self, program, configuration, in: stateStorage ?? SavedState.files(of: program, configuration))
    stateKeeper = state
    if hasPassedRestoration { state.restore() }
    return state
  }
}

extension Application.Scene {
  /// The state of the scene's window, which its next scene and the next process find again.
  ///
  /// It belongs to the window's session: a reclaimed window finds it, and closing the window drops it.
  public var savedState: WindowState {
    WindowState(session: session.identifier, application: application)
  }

  /// The saved values of a window.
  @MainActor public struct WindowState {
    let session: SceneIdentifier
    let application: Application?
  }
}
