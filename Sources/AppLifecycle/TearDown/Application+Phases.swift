// Phases open and close in steps; what is held and what runs follows.

extension Application {
  /// Opens and closes what a callback opens and closes, now that its synchronous handlers have run.
  func movePhases(after callback: ApplicationCallback) {
    switch callback {
    case .didFinishLaunching:
      open(.running)
      // At a cold launch without scenes no willEnterForeground is sent.
      if present.state.isForeground { open(.foreground) }
    case .willEnterForeground: open(.foreground)
    case .didBecomeActive: open(.active)
    case .willResignActive: close(.active)
    case .didEnterBackground: close(.foreground)
    case .willTerminate: close(.running)
    case .willFinishLaunching, .shouldTerminate, .didReceiveMemoryWarning, .significantTimeChange,
      .protectedDataWillBecomeUnavailable,
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
    gate[phase] = .handlers
    updateResources()
    advanceGate()
  }

  /// Takes each phase that closes as far as the handlers and bodies allow that still run.
  ///
  /// Handlers and bodies of a narrower phase may use what belongs to a wider one, which waits for them.
  func advanceGate() {
    var hasAdvanced = false
    for phase in PhaseGate.phases.reversed() {
      if gate[phase] == .handlers, !hasPendingHandlers(within: phase) {
        endBodies(of: phase)
        hasAdvanced = true
      }
      if gate[phase] == .bodies, !hasEndingBodies(within: phase) {
        gate[phase] = .closed
        hasAdvanced = true
      }
    }
    if hasAdvanced { updateResources() }
  }

  /// Ends the bodies of `run(while:)`: all handlers have run, or are no longer waited for.
  func endBodies(of phase: LifecyclePhase) {
    gate[phase] = .bodies
    runs.phaseDidClose(phase)
    updateResources()
  }

  private func hasPendingHandlers(within phase: LifecyclePhase) -> Bool {
    pendingPosts.contains { $0.closes.map { phase.includes($0) } ?? false }
  }

  private func hasEndingBodies(within phase: LifecyclePhase) -> Bool {
    PhaseGate.phases.contains { phase.includes($0) && (runs.isEnding($0) || manager.isEndingBodies(of: $0)) }
  }

  /// The last body of a phase that was asked to end has ended.
  func bodiesDidEnd() {
    advanceGate()
    tearDownDidProgress()
  }

  func updateResources() {
    manager.setOpenPhases(gate.open, lingering: gate.lingering, ending: gate.endingBodies)
  }
}
