extension Application {
  /// One window of an application in the scene-based life cycle, with its own state and delegate.
  ///
  /// A scene exists from its connection to its disconnection. When a window is reconnected, it gets a new scene with the
  /// same ``session``.
  @MainActor public final class Scene {
    /// The window's name.
    public nonisolated let identifier: SceneIdentifier
    /// The session of the window, which outlives the scene.
    @preconcurrency public let session: SceneSession
    /// The application of the scene; nil if the application has been deallocated.
    public nonisolated var application: Application? { reference.application }
    /// The delegate, which the scene calls before it posts each notification, and retains until it is disconnected.
    ///
    /// When the scene connects, the application's delegate supplies it
    /// (``ApplicationDelegate/application(_:delegateFor:)``).
    @preconcurrency public var delegate: (any SceneDelegate)?
    /// The state of the scene; it changes after *will…* callbacks and before *did…* callbacks.
    ///
    /// In a scene's callbacks and notifications the state of the *application* has not changed yet. Observable.
    public var state: SceneState {
      observed.access(self, \.state)
      return lastChange.to
    }
    /// Whether the scene's window has the keyboard focus.
    ///
    /// The value is true at first. A host that observes the focus sends ``SystemInput/unfocusScene(_:)`` and
    /// ``SystemInput/focusScene(_:)``. A scene in the foreground without focus is inactive. The property changes before
    /// the callbacks that follow from the change. Observable.
    public var hasFocus: Bool {
      observed.access(self, \.hasFocus)
      return presentFocus
    }
    /// The states on either side of the latest change.
    private(set) var lastChange: (from: SceneState, to: SceneState) = (.unattached, .unattached)
    private var presentFocus = true
    private nonisolated let reference: ApplicationReference
    private nonisolated let observed = LazyObservationRegistrar()

    init(of application: Application, in session: SceneSession) {
      reference = application.reference
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
}
