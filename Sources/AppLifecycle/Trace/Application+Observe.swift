internal import PubSub
internal import Scheduling
internal import Synchronization

// Journals, hosts, exporters, loggers and tests all observe an application with the same call.

extension Application {
  /// Calls an observer with each event of the application, in order and as the event happens.
  ///
  ///     token = application.observe { event in
  ///       if case .callEnded(let entry, _) = event, entry.isLate { logger.warning("\(entry)") }
  ///     }
  ///
  /// All observers receive the same events in the same order. The host's observer is called first, the others in the
  /// order in which they were added. The record of a delegate call comes before the call. The record of a notification
  /// comes before its handlers run. If an observer itself causes an event, such as the beginning of a background task,
  /// that event is delivered after the current one. A task that it starts with ``task(label:fileID:line:_:)`` is no event.
  /// An observer that causes 10,000 events while one is delivered is no longer called, and is reported as a failed one.
  ///
  /// An observer runs in the middle of a transition, which waits for it, so it should copy the data that it needs and
  /// return. It cannot change the course of the transition. An input that it sends with ``send(_:cause:)`` is queued.
  /// The first error that it throws is reported as `observerFailed` with the observer's name. If the observer uses up
  /// the budget of a tear-down, the overrun is reported with its name.
  ///
  /// While an application has no observers, it creates no events.
  ///
  /// - Parameters:
  ///   - label: the observer's name in reports; if nil, its position in the source is its name.
  ///   - fileID: the module and file of the call.
  ///   - line: the line of the call.
  ///   - observer: the code to call, on the main actor.
  /// - Returns: a token that keeps the observer registered; cancel or release it to remove the observer.
  /// - Complexity: constant.
  public func observe(
    label: String? = nil, fileID: String = #fileID, line: Int = #line,
    _ observer: @escaping @MainActor @Sendable (TraceEvent) throws -> Void
  ) -> ObserverToken {
    let observer = TraceObserver(EventBus.Subscriber(label: label, fileID: fileID, line: line), observer)
    observers.add(observer)
    return ObserverToken(observer)
  }

  /// Calls an observer before all others; for the host, which must report the others if they block.
  ///
  /// An observer that is added while observers are being called comes last.
  package func observeFirst(
    label: String, _ observer: @escaping @MainActor @Sendable (TraceEvent) throws -> Void
  ) -> ObserverToken {
    let observer = TraceObserver(EventBus.Subscriber(label: label, fileID: "", line: 0), observer)
    observers.add(observer, isFirst: true)
    return ObserverToken(observer)
  }

  /// The calls of the program's code that have begun and have not ended, oldest first.
  ///
  /// Any thread may read this property. So a host can name the code that blocks the main actor: the last synchronous
  /// call, if there is one. The property is empty while the application has no observers.
  ///
  /// - Complexity: linear in their number.
  public nonisolated var openCalls: [TracedCall] { observers.openCalls }

  /// The time of the application's clock, as in records.
  package var instant: Duration { timing.now() }

  // MARK: Telling

  /// Calls the observers with an event, which is created only if there are observers.
  func tell(_ event: @autoclosure () -> TraceEvent) {
    guard !observers.isEmpty else { return }
    let event = event()
    // Check once for all observers: reading a task-local value costs as much as a call.
    if TerminationQuestion.current == nil, HandlerContext.current == nil {
      observers.tell(event, to: self)
    } else {
      // Work that an observer starts belongs to no handler.
      HandlerContext.outside {
        TerminationQuestion.$current.withValue(nil) { observers.tell(event, to: self) }
      }
    }
  }

  /// Reports the beginning of a call of the program's code.
  ///
  /// - Parameters:
  ///   - entry: the entry of a call that would end at once.
  ///   - isSynchronous: whether the code occupies the main actor until it returns.
  ///   - isLongRunning: whether the call may last as long as the program.
  ///   - transition: the transition to which the call belongs.
  /// - Returns: the call, to whose number its end refers; nil if there are neither observers nor interceptors.
  func callBegins(
    _ entry: @autoclosure () -> LedgerEntry, isSynchronous: Bool = false, isLongRunning: Bool = false,
    in transition: TracedTransition.ID? = nil
  ) -> TracedCall? {
    guard observers.describesCalls else { return nil }
    let call = observers.number(
      entry(), isSynchronous: isSynchronous, isLongRunning: isLongRunning, in: transition)
    tell(.callBegan(call))
    return call
  }

  /// The time if a budget runs, in which observers are timed; nil otherwise.
  var timeWithinBudget: Duration? { tearDown.deadline == nil ? nil : timing.now() }

  /// Calls one observer with an event.
  ///
  /// - Parameters:
  ///   - observer: the observer.
  ///   - event: the event.
  ///   - began: the time now, if a budget runs.
  /// - Returns: the time when the observer returned, if a budget runs; the next observer begins then.
  func call(_ observer: TraceObserver, with event: TraceEvent, at began: Duration?) -> Duration? {
    do {
      if tasks.executor == nil {
        try observer.body.call(event)
      } else {
        try tasks.naming(observer.source) { try observer.body.call(event) }
      }
    } catch {
      if !observer.hasFailed.exchange(true, ordering: .relaxed) { note(error, of: observer) }
    }
    return began.map { noteOverrun(of: observer, began: $0) }
  }

  /// Reports an error of an observer.
  func note(_ error: any Error, of observer: TraceObserver) {
    noteOnly(
      LedgerEntry(
        .observer, observer.source, step: CallStep.observe.rawValue, began: timing.now(), duration: .zero,
        outcome: .failed(error.text)))
    report(error, of: observer.source, .observe)
    report(.observerFailed, observer.source.description, transitions.presentCause ?? "observe")
  }

  /// Blames an observer during whose call a budget ran out.
  ///
  /// - Returns: the time when the call ended.
  private func noteOverrun(of observer: TraceObserver, began: Duration) -> Duration {
    let end = timing.now()
    if tearDown.blames(observer.source, from: began, to: end) {
      noteOnly(
        LedgerEntry(
          .observer, observer.source, step: CallStep.observe.rawValue, began: began, duration: end - began,
          outcome: .overran))
    }
    return end
  }

  /// Adds an entry to the ledger without calling observers: reporting an observer's own call to observers would never
  /// end.
  func noteOnly(_ entry: LedgerEntry) { ownLedger.note(entry, on: ownLedger.page) }

  // MARK: Records

  /// Tells of a record of the life cycle.
  func record(_ kind: LifecycleRecord.Kind, _ name: String, _ cause: LifecycleCause, scene: SceneIdentifier? = nil) {
    tell(
      .recorded(
        LifecycleRecord(
          instant: timing.now(), kind: kind, name: name, state: present.state, scene: scene?.rawValue, cause: cause)))
  }

  /// Tells of the record of a report.
  func report(_ kind: LifecycleReport.Kind, _ name: String, _ cause: LifecycleCause) {
    record(.report, LifecycleReport(kind, name).recordName, cause)
  }

  /// Records an input with itself as the cause; everything that follows from it has the cause that its sender gave.
  func noteInput(_ input: LifecycleInput) {
    // A purge is no action on the device: it follows from the application's own behavior.
    guard input != .device(.purge) else { return }
    let name = LifecycleCause(input)
    tell(.recorded(inputRecord(.input, name, cause: name)))
  }

  func noteOutcome(_ report: TransitionReport, of input: LifecycleInput) {
    guard case .ignored(let reason) = report.outcome, input != .device(.purge) else { return }
    tell(.recorded(inputRecord(.ignored, LifecycleCause(input), cause: report.cause, reason: reason.rawValue)))
  }

  private func inputRecord(
    _ kind: LifecycleRecord.Kind, _ name: LifecycleCause, cause: LifecycleCause, reason: String? = nil
  ) -> LifecycleRecord {
    LifecycleRecord(
      instant: timing.now(), kind: kind, name: name.rawValue, state: present.state, cause: cause, reason: reason)
  }
}
