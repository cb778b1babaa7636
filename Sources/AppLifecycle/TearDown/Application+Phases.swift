// Phases open and close in steps; what is held and what runs follows.

extension Application {
  /// Opens and closes what a callback opens and closes, now that its synchronous handlers have run.
  func movePhases(after callback: ApplicationCallback) {
    switch callback {
    case .didFinishLaunching:
      open(.running)
      // At a cold launch without scenes no willEnterForeground is sent.
      if state.isForeground { open(.foreground) }
    case .willEnterForeground: open(.foreground)
    case .didBecomeActive: open(.active)
    case .willResignActive: close(.active)
    case .didEnterBackground: close(.foreground)
    case .willTerminate: close(.running)
    case .willFinishLaunching, .didReceiveMemoryWarning, .significantTimeChange, .protectedDataWillBecomeUnavailable,
      .protectedDataDidBecomeAvailable:
      break
    }
  }

  private func open(_ phase: LifecyclePhase) {
    guard gate[phase] != .open else { return }
    gate[phase] = .open
    updateResources()
    runs.phaseDidOpen(phase)
  }

  private func close(_ phase: LifecyclePhase) {
    guard gate[phase] == .open else { return }
    runs.phaseWillClose(phase)
    if pendingPosts.contains(where: { $0.closes == phase }) {
      gate[phase] = .handlers
      updateResources()
    } else {
      endBodies(of: phase)
    }
  }

  /// All handlers have run: the bodies of `run(while:)` are next.
  func endBodies(of phase: LifecyclePhase) {
    gate[phase] = .bodies
    runs.phaseDidClose(phase)
    if !runs.isEnding(phase) { gate[phase] = .closed }
    updateResources()
  }

  /// The last body of a phase that was asked to end has ended.
  func bodiesDidEnd(of phase: LifecyclePhase) {
    if gate[phase] == .bodies {
      gate[phase] = .closed
      updateResources()
    }
    tearDownDidProgress()
  }

  func updateResources() { manager.setOpenPhases(gate.open, lingering: gate.lingering) }
}
