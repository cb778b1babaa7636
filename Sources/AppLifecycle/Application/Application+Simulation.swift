// What a simulated system tells the application about the system that it plays.

extension Application {
  /// Whether an overrun ends the process, as it does on a device; else it is only reported.
  package var enforcesBudgets: Bool {
    get { tearDown.enforcesBudgets }
    set { tearDown.enforcesBudgets = newValue }
  }

  /// What the system is doing, as the cause of what happens outside of a transition.
  package var ambientCause: LifecycleCause? {
    get { transitions.ambientCause }
    set { transitions.ambientCause = newValue }
  }
}
