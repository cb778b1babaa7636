import AppLifecycle
public import AppLifecycleTesting
import PubSub

/// A watch over one simulated system, which reports the faults of its run.
///
///     let watch = RunWatch(system)
///     try await system.play("launch; home")
///     let complaints = await watch.end()
///     #expect(complaints == [])
///
/// ``SimulatedSystemTrait`` and the script checks use one. Make one yourself if a test has several systems, or needs
/// the complaints as values.
@MainActor public final class RunWatch {
  /// The system that is watched.
  public nonisolated let system: SimulatedSystem
  /// The balance of what doubles open and close.
  public nonisolated let balance: ResourceBalance

  private var rules: LifecycleRecordRules
  /// The number of records that have been examined.
  private var examined = 0
  /// The number of rule violations that have become complaints.
  private var violations = 0
  private var found: [RunComplaint] = []
  /// The resources that the application holds.
  var resources = HeldResources()
  /// The code whose overrun no slow call of the script explains, since the last examination.
  private var lateCode: Set<String> = []
  /// How the present process is ending.
  private var end = ProcessEnd.none
  /// How the latest process ended; nil once that has been examined.
  private var past: ProcessEnd?
  /// The errors that handlers have thrown since the last examination.
  private let failures = HandlerFailures()
  private var subscriptions: [EventBus.Subscription] = []
  private var observation: ObserverToken?

  private enum ProcessEnd {
    case none
    /// willTerminate has been called.
    case inOrder
    /// The process was purged for an overrun, which is a complaint of its own.
    case overrun
  }

  /// Begins to watch.
  ///
  /// - Parameters:
  ///   - system: the system, before the first script is played on it.
  ///   - balance: the balance of what doubles open and close.
  public init(_ system: SimulatedSystem, balance: ResourceBalance = ResourceBalance()) {
    (self.system, self.balance) = (system, balance)
    rules = LifecycleRecordRules(profile: system.application.configuration.profile)
    let resourceChanges = system.bus.subscribe(
      to: Application.ResourceDidChange.self, from: system.application, label: "RunWatch"
    ) { [weak self] event in
      self?.resources.take(event.resource.status, of: event.resource.name)
    }
    let stateChanges = system.bus.subscribe(
      to: Application.StateDidChange.self, from: system.application, label: "RunWatch"
    ) { [weak self] event in
      guard let self else { return }
      // The system closes at once what a lost process had open; a test may look right after it.
      if event.transition.to == .notRunning, !self.system.hasEndedInOrder { self.balance.loseProcess() }
    }
    let failedHandlers = system.bus.subscribe(to: EventBus.HandlerFailure.self, label: "RunWatch") { [failures] in
      failures.note($0)
    }
    subscriptions = [resourceChanges, stateChanges, failedHandlers]
    observation = system.application.observe(label: "RunWatch") { [weak self] event in
      guard let self else { return }
      switch event {
      // Examine the balance before the next delegate is made, so that its doubles do not count for the process that has
      // ended.
      case .transitionBegan where !self.system.application.state.isInMemory: examine()
      case .overran(let overrun) where !self.system.clock.hadSlowWork(within: overrun.budget):
        lateCode.formUnion(overrun.culprits)
      default: break
      }
    }
  }

  /// The faults of the run so far, each fault once, in the order in which they were found.
  ///
  /// Reading this property examines the records since the last time. Read it between two scripts, never inside a
  /// handler.
  ///
  /// - Complexity: linear in the number of new records.
  public var complaints: [RunComplaint] {
    examine()
    return found
  }

  /// Ends the application, and returns the faults of the whole run.
  ///
  /// 1. A suspended application is woken, because the system would otherwise kill it without a call.
  /// 2. If background tasks are open, the application leaves the foreground and gets its whole background time.
  /// 3. The system ends the application in order, as by the script action `kill`.
  /// 4. The subscriptions of all owners on the system's bus are cancelled. An owner that this releases was captured by
  ///    its own handler. An owner that something else holds, such as a variable of the test, is not found.
  ///
  /// - Returns: ``complaints``, including those about the end.
  public func end() async -> [RunComplaint] {
    await endApplication()
    examine()
    rules.end()
    takeViolations()
    if system.application.launchCause != nil {
      for name in system.application.openTasks {
        add(RunComplaint(.task, "“\(name)” did not end with its process; it must respond to its cancellation"))
      }
    }
    for owner in system.bus.endSubscriptionsOfOwners() {
      let fault = "“\(owner.type)” is captured by its own handler, and never released"
      add(RunComplaint(.owner, "\(fault): \(owner.subscriber.place); use the owner that is passed to the handler"))
    }
    return found
  }

  /// Adds complaints about escaped work, from an error that a script or the clock has thrown.
  ///
  /// - Parameter escaped: the error.
  public func note(_ escaped: EscapedWork) {
    for violation in escaped.violations { add(RunComplaint(.escapedWork, violation.description)) }
  }

  /// Adds a complaint, unless there is one about the same fault.
  func add(_ complaint: RunComplaint) {
    if !found.contains(where: { $0.isSameFault(as: complaint) }) { found.append(complaint) }
  }
}

// MARK: - The end

extension RunWatch {
  private func endApplication() async {
    let application = system.application
    if application.state == .suspended { await play("wake") }
    if !application.openBackgroundTasks.isEmpty {
      if application.state.isForeground { await play("home") }
      let allowance = application.configuration.backgroundTaskAllowance / .milliseconds(1)
      // A duration in a script has twelve digits at most, about thirty years.
      await play("wait:\(Int64(min(max(allowance.rounded(.up), 0), 999_999_999_999)))ms")
      for name in application.openBackgroundTasks { add(.neverEnded(name)) }
      if application.state == .suspended { await play("wake") }
    }
    await play(application.state.isInMemory ? "kill" : "")
  }

  /// Whether ``end()`` would only play `kill`.
  var endsByKill: Bool { system.application.state.runsCode && system.application.openBackgroundTasks.isEmpty }

  /// Plays a script and checks for escaped work; whatever has escaped, the next step follows.
  private func play(_ script: String) async {
    guard let script = try? Script(script) else { return }
    do throws(EscapedWork) {
      try await system.play(script)
      try await system.clock.checkForEscapes()
    } catch {
      note(error)
    }
  }
}

// MARK: - Reading the record

extension RunWatch {
  private func examine() {
    let new = system.record[examined...]
    examined = system.record.count
    examine(new)
  }

  /// Examines new records, and the resources since the last time.
  func examine(_ new: ArraySlice<LifecycleRecord>) {
    for record in new {
      rules.take(record)
      switch record.kind {
      case .delegate where record.name == ApplicationCallback.willTerminate.rawValue: end = .inOrder
      case .report: take(record)
      case .state where record.state == .notRunning: (past, end) = (end, .none)
      default: break
      }
    }
    takeViolations()
    for complaint in balance.takeComplaints() { add(complaint) }
    for complaint in resources.takeComplaints() { add(complaint) }
    for complaint in failures.takeComplaints() { add(complaint) }
    if let past { processEnded(past) }
    (past, lateCode) = (nil, [])
  }

  private func takeViolations() {
    let all = rules.violations
    for violation in all[violations...] { add(RunComplaint(.lifecycle, violation.message, at: violation.place)) }
    violations = all.count
  }

  private func take(_ record: LifecycleRecord) {
    guard let report = record.report else { return }
    let name = report.name
    switch report.kind {
    case .watchdog:
      end = .overrun
      if lateCode.remove(name) != nil {
        add(RunComplaint(.overrun, "“\(name)” exceeded its budget", at: record.cause.rawValue))
      }
    case .backgroundTimeExpired: add(.neverEnded(name))
    case .taskEndedTwice: add(RunComplaint(.backgroundTask, "“\(name)” was ended twice"))
    case .refusedEndlessly:
      add(RunComplaint(.backgroundTask, "“\(name)” is begun again and again, although it is refused"))
    case .observerFailed: break
    }
  }

  /// Examines the resources after a process has ended and all resulting work is done.
  private func processEnded(_ end: ProcessEnd) {
    let held = resources.loseProcess()
    if end == .inOrder {
      for name in held {
        add(RunComplaint(.resource, "“\(name)” was still held after the application had ended in order"))
      }
      for name in balance.open.keys.sorted() {
        add(RunComplaint(.resource, "“\(name)” was still open after the application had ended in order"))
      }
    }
    balance.loseProcess()
  }
}

extension RunComplaint {
  fileprivate static func neverEnded(_ task: String) -> RunComplaint {
    RunComplaint(.backgroundTask, "“\(task)” was not ended within its time")
  }
}
