// The settings with which a simulated system controls the application.

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
