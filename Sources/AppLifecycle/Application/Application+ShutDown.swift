extension Application {
  /// Ends the application in order, without asking its delegate, and sets the exit status of its host.
  ///
  /// If the application is ending already, the call only sets the status. Before the launch it has no effect: the
  /// application ignores the input, and the launch resets the status. A suspended application ends without any call.
  ///
  /// Use it in a program that cannot continue, such as a service whose last listener failed. After several calls, the
  /// first status other than zero counts, until the next launch. A late end has the status 70 instead, and a host
  /// that ends the tear-down early returns a status of its own.
  ///
  /// - Parameters:
  ///   - status: the exit status, which becomes ``exitStatus`` if the end keeps its budgets.
  ///   - cause: the cause that records and notifications show; if nil, the input ``SystemInput/shutDown``.
  public func shutDown(status: Int32, cause: LifecycleCause? = nil) {
    transitions.setExitStatus(status)
    // During the end, the call only sets the status: another input would come too late, and be ignored.
    if !transitions.isEndingProcess { send(.shutDown, cause: cause) }
  }

  /// Whether the application is ending: `willTerminate` has been posted or is about to be.
  package var isEnding: Bool { transitions.isEndingProcess }

  /// The cause of the transition that is under way; nil between transitions.
  package var presentCause: LifecycleCause? { transitions.presentCause }
}
