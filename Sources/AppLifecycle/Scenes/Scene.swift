public import Observation

/// One window of an application that follows the scene-based life cycle: a state and a delegate of its own.
///
/// A scene lives from its connection to its disconnection; a window that is reconnected gets a new scene. What outlives it is
/// its ``session``.
@MainActor public final class Scene {
  /// The window's name.
  public nonisolated let identifier: SceneIdentifier
  /// What outlives the scene.
  public let session: SceneSession
  /// Whose scene it is; nil if the application is gone.
  public weak let application: Application?
  /// Called before each notification of the scene; kept alive until the scene is disconnected.
  ///
  /// The application's delegate is asked for it when the scene connects
  /// (``ApplicationDelegate/application(_:delegateFor:)-(_,Scene)``).
  public var delegate: (any SceneDelegate)?
  /// The state as callbacks see it: *will…* callbacks run before the new state is set, *did…* callbacks after.
  ///
  /// In a scene's callbacks and notifications the *application's* state has not moved yet. Observable.
  public var state: SceneState {
    observed.access(self, \.state)
    return lastChange.to
  }
  /// Whether the scene's window has the keyboard focus.
  ///
  /// True from the beginning; a host that knows better sends ``SystemInput/unfocusScene(_:)`` and ``SystemInput/focusScene(_:)``. A scene
  /// in the foreground without focus is inactive. The property changes before the callbacks to which the change leads. Observable.
  public var hasFocus: Bool {
    observed.access(self, \.hasFocus)
    return presentFocus
  }
  /// The states on either side of the latest change.
  private(set) var lastChange: (from: SceneState, to: SceneState) = (.unattached, .unattached)
  private var presentFocus = true
  private nonisolated let observed = ObservedChanges()

  init(of application: Application, in session: SceneSession) {
    self.application = application
    self.session = session
    identifier = session.identifier
    session.scene = self
  }

  func setState(_ next: SceneState) {
    observed.change(self, \.state) { lastChange = (lastChange.to, next) }
    if next == .unattached { session.sceneDidDisconnect(self) }
  }

  func loseProcess() {
    setState(.unattached)
    delegate = nil
  }

  func setFocus(_ hasFocus: Bool) {
    observed.change(self, \.hasFocus) { presentFocus = hasFocus }
  }
}

extension Scene: Observable {}
