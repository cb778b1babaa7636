extension Application {
  /// Ends the application in order, without asking its delegate, and sets the exit status of its host.
  ///
  /// Use it in a program that cannot continue, such as a service whose last listener failed. After several calls the
  /// first status other than zero counts, until the next launch. A host that ended the tear-down early returns its own
  /// status instead.
  ///
  /// - Parameters:
  ///   - status: the exit status, which becomes ``exitStatus``.
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
