extension Application {
  /// Ends the application in order, without asking its delegate, and has its host return an exit status.
  ///
  /// For a program that cannot go on, such as a service whose last listener failed. The first status other than zero stays until
  /// the next launch; a host that had to cut the tear-down short returns its own status.
  ///
  /// - Parameters:
  ///   - status: the exit status, as ``exitStatus`` shows it from now on.
  ///   - cause: the cause that records and notifications show; the input itself if nil.
  public func shutDown(status: Int32, cause: LifecycleCause? = nil) {
    if exitStatus == 0 { exitStatus = status }
    send(.shutDown, cause: cause)
  }

  /// Reports by name an operation that is late and that no budget covers.
  ///
  /// - Parameters:
  ///   - name: the resource's name, or the source of the call.
  ///   - step: what it was doing: `acquire` or `release`.
  ///   - page: the page of the ledger that gets the overrun.
  func operationIsLate(_ name: String, step: String = "release", on page: LedgerKeeper.PageID?) {
    record(.report, "watchdog:\(name)", presentCause ?? LifecycleCause(rawValue: "\(step) of \(name)"))
    note(
      BudgetOverrun(
        callback: .didEnterBackground, budget: configuration.didEnterBackgroundBudget, culprits: [name]), on: page)
  }
}
