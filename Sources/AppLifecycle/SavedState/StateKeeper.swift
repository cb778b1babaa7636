internal import Synchronization

/// What keeps the program's state between its processes; the module SavedState has the only one.
///
/// The application calls it at the steps of the life cycle at which state is restored and saved. This module has no coder, so that
/// a program without saved state links none.
@MainActor package protocol StateKeeper: AnyObject {
  /// Restores the state, between `applicationWillFinishLaunching` and `applicationDidFinishLaunching`.
  func restore()
  /// Saves what has changed, after the handlers and releases of a step that may end the process.
  ///
  /// - Parameter completion: called once, also if there is nothing to save, perhaps before this method returns.
  func saveBeforeLeaving(_ completion: @escaping @MainActor () -> Void)
  /// Saves what has changed before this method returns: the budget of the step is used up.
  func saveAtOnce()
  /// Drops the state of a window that the user has closed, also from what was saved.
  ///
  /// - Parameters:
  ///   - identifier: the window's session.
  ///   - endsProcess: whether the system is about to end the process, so that it must be dropped before this method
  ///     returns, and nothing else may be saved.
  func sessionDidEnd(_ identifier: SceneIdentifier, endsProcess: Bool)
  /// Saves nothing more: the process has ended.
  func processDidEnd()
}

extension Application {
  /// Restores the state at the step where it belongs, and remembers that this step has passed.
  func restoreState() {
    if let delegate = delegate as? any StateRestoringDelegate {
      callDelegate("applicationWillRestoreState") { delegate.applicationWillRestoreState(self) }
    }
    hasPassedRestoration = true
    stateKeeper?.restore()
  }

  /// Saves what has changed before this method returns; a host prolongs its deadline meanwhile.
  func saveAtOnce() {
    saving.store(true, ordering: .relaxed)
    stateKeeper?.saveAtOnce()
    saving.store(false, ordering: .relaxed)
  }

  /// Whether the main actor saves, and does not wait for it; any thread may read this property.
  package nonisolated var isSavingAtOnce: Bool { saving.load(ordering: .relaxed) }

  /// Lets go of the keeper with the process: the next one restores for itself.
  func endKeepingState() {
    hasPassedRestoration = false
    guard let keeper = stateKeeper else { return }
    keeper.processDidEnd()
    stateKeeper = nil
    // The next process, also of a simulation, knows them by what was saved.
    sceneDirectory.loseSessions()
  }

  /// Forgets the session of a window that the user has closed, and its state, and tells the delegate unless the process ends.
  ///
  /// - Parameters:
  ///   - identifier: the session.
  ///   - endsProcess: whether the system is about to end the process.
  func endSession(_ identifier: SceneIdentifier, endsProcess: Bool = false) {
    let session = sceneDirectory.endSession(identifier)
    stateKeeper?.sessionDidEnd(identifier, endsProcess: endsProcess)
    guard !endsProcess, let session, let delegate = delegate as? any _SessionDelegate else { return }
    callDelegate("application(_:didDiscardSceneSessions:)") { delegate._application(self, sessionDidEnd: session) }
  }

  /// Makes the sessions of windows that were open in the process before known again, behind those that are open now.
  package func restoreSessions(_ identifiers: [SceneIdentifier]) { sceneDirectory.restoreSessions(identifiers) }
}
