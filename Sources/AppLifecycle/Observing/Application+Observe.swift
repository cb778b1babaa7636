internal import PubSub
internal import Synchronization

// Whatever happens in an application can be watched: by journals, hosts, exporters, loggers and tests, with the same call.

extension Application {
  /// Calls an observer with everything that happens in the application, in order and as it happens.
  ///
  ///     token = application.observe { event in
  ///       if case .callEnded(let entry, _) = event, entry.isLate { logger.warning("\(entry)") }
  ///     }
  ///
  /// Every observer is called with the same events in the same order, in the order in which they were added. A record of a delegate
  /// call comes before the call, and that of a notification before its handlers run. What an observer itself leads to, such as
  /// the begin of a background task, is reported after the event for which it was called.
  ///
  /// An observer runs in the middle of a transition, which waits for it: it should note what it needs and return. It cannot change
  /// the course of the life cycle. An input that it sends with ``send(_:cause:)`` waits for its turn. The first error that it throws is
  /// reported as `observerFailed` with the observer's name. If the observer uses up the budget of a tear-down, the overrun is
  /// reported with its name.
  ///
  /// While an application has no observers, no events are made.
  ///
  /// - Parameters:
  ///   - label: the observer's name in reports; if nil, its position in the source is its name.
  ///   - fileID: the module and file of the call.
  ///   - line: the line of the call.
  ///   - observer: the code to call, on the main actor.
  /// - Returns: a token that keeps the observer; when it is cancelled or released, the observer is called no more.
  /// - Complexity: constant.
  public func observe(
    label: String? = nil, fileID: String = #fileID, line: Int = #line,
    _ observer: @escaping @MainActor @Sendable (TraceEvent) throws -> Void
  ) -> ObserverToken {
    let observer = TraceObserver(Subscriber(label: label, fileID: fileID, line: line), observer)
    observers.add(observer)
    return ObserverToken(observer)
  }

  /// Calls an observer before all others, which may block: that of the host, which watches over them.
  package func observeFirst(
    label: String, _ observer: @escaping @MainActor @Sendable (TraceEvent) throws -> Void
  ) -> ObserverToken {
    let observer = TraceObserver(Subscriber(label: label, fileID: "", line: 0), observer)
    observers.add(observer, isFirst: true)
    return ObserverToken(observer)
  }

  /// The calls of the program's code that have begun and have not ended, oldest first.
  ///
  /// Any thread may read this property, so that a host can name the code that blocks the main actor: the last call that is synchronous,
  /// if there is one. The calls are known only while the application is observed.
  ///
  /// - Complexity: linear in their number.
  public nonisolated var openCalls: [TracedCall] { observers.openCalls }

  /// The time of the application's clock, as records have it.
  package var instant: Duration { timing.now() }

  // MARK: Telling

  /// Calls the observers; does nothing, and makes no event, while there are none.
  func tell(_ event: @autoclosure () -> TraceEvent) {
    guard !observers.isEmpty else { return }
    let event = event()
    // Asked once for all observers: each look at a task-local value costs as much as a call.
    if TerminationQuestion.current == nil, HandlerContext.bound == nil {
      observers.tell(event, to: self)
    } else {
      // What an observer starts belongs to no handler.
      HandlerContext.outside {
        TerminationQuestion.$current.withValue(nil) { observers.tell(event, to: self) }
      }
    }
  }

  /// A call of the program's code begins.
  ///
  /// - Returns: what its end refers to; nil if nothing observes.
  func callBegins(_ entry: @autoclosure () -> LedgerEntry, isSynchronous: Bool = false) -> TracedCall.ID? {
    guard !observers.isEmpty else { return nil }
    let call = observers.number(entry(), isSynchronous: isSynchronous)
    tell(.callBegan(call))
    return call.id
  }

  /// Calls one observer with an event.
  func call(_ observer: TraceObserver, with event: TraceEvent) {
    let began = tearDown.deadline == nil ? nil : timing.now()
    do {
      if tasks.executor == nil {
        try observer.call(event)
      } else {
        try tasks.naming(observer.source) { try observer.call(event) }
      }
    } catch {
      note(error, of: observer)
    }
    if let began { noteOverrun(of: observer, began: began) }
  }

  /// The first error of an observer is reported.
  private func note(_ error: any Error, of observer: TraceObserver) {
    guard !observer.hasFailed.exchange(true, ordering: .relaxed) else { return }
    noteOnly(
      LedgerEntry(
        .observer, observer.source, step: "observe", began: timing.now(), duration: .zero,
        outcome: .failed(String(describing: error))))
    record(
      .report, "observerFailed:\(observer.source)", transitions.presentCause ?? LifecycleCause(rawValue: "observe"))
  }

  /// The observer that uses up the last of a budget is to blame for it.
  private func noteOverrun(of observer: TraceObserver, began: Duration) {
    let end = timing.now()
    guard tearDown.blames(observer.source, from: began, to: end) else { return }
    noteOnly(
      LedgerEntry(
        .observer, observer.source, step: "observe", began: began, duration: end - began, outcome: .overran))
  }

  /// Adds to the ledger, and calls no observer: that of an observer's own call would never end.
  private func noteOnly(_ entry: LedgerEntry) { ownLedger.note(entry, on: ownLedger.presentPage) }

  // MARK: Records

  /// Tells of a record of the life cycle.
  func record(_ kind: LifecycleRecord.Kind, _ name: String, _ cause: LifecycleCause, scene: SceneIdentifier? = nil) {
    tell(
      .recorded(
        LifecycleRecord(
          instant: timing.now(), kind: kind, name: name, state: present.state, scene: scene?.rawValue, cause: cause)))
  }

  /// An input is its own cause; what follows from it has the cause that its sender gave it.
  func noteInput(_ input: SystemInput) {
    // A purge follows from what the application did.
    guard input != .purge else { return }
    let name = LifecycleCause(input)
    tell(.recorded(inputRecord(.input, name, cause: name)))
  }

  func noteOutcome(_ report: TransitionReport, of input: SystemInput) {
    guard case .ignored(let reason) = report.outcome, input != .purge else { return }
    tell(.recorded(inputRecord(.ignored, LifecycleCause(input), cause: report.cause, reason: reason.rawValue)))
  }

  private func inputRecord(
    _ kind: LifecycleRecord.Kind, _ name: LifecycleCause, cause: LifecycleCause, reason: String? = nil
  ) -> LifecycleRecord {
    LifecycleRecord(
      instant: timing.now(), kind: kind, name: name.rawValue, state: present.state, cause: cause, reason: reason)
  }
}
