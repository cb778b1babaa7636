internal import PubSub

// What a simulated system controls: settings, and the delegate of each process.

extension Application {
  /// Whether an overrun ends the process, as it does on a device; otherwise it is only reported.
  package var enforcesBudgets: Bool {
    get { tearDown.enforcesBudgets }
    set { tearDown.enforcesBudgets = newValue }
  }

  /// The current activity of the system, which is the cause of everything that happens outside a transition.
  package var ambientCause: LifecycleCause? {
    get { transitions.ambientCause }
    set { transitions.ambientCause = newValue }
  }
}

// MARK: - Processes

extension Application {
  /// Drops what an earlier process has set up, and makes a new delegate, because a process begins.
  ///
  /// Does nothing for the first process, or if all processes have the same delegate.
  func beginProcess() {
    guard let makeDelegate, present.launchCause != nil else { return }
    manager.forgetProcess()
    bus.cancelSubscriptions(of: delegate)
    // Release the old delegate before the new one is made, and not while the property changes: its deinitializer may
    // read the property.
    withExtendedLifetime(delegate) { delegate = NoDelegate() }
    isMakingDelegate = true
    defer { isMakingDelegate = false }
    delegate = makeDelegate()
  }
}

/// The delegate between two processes of a simulation.
@MainActor private final class NoDelegate: ApplicationDelegate {}
