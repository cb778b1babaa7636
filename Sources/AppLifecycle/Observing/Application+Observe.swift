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
  /// the course of the life cycle. An input that it sends with ``send(_:cause:)`` waits for its turn. If it throws, the
  /// first error is reported as `observerFailed` with the observer's name; if it uses up a budget, it is
  /// named as the one that overran it.
  ///
  /// The cost of what happens rises by that of the observers alone; without observers no event is made.
  ///
  /// - Parameters:
  ///   - label: names the observer in reports; its position in the source does if nil.
  ///   - fileID: where the observer stands.
  ///   - line: where the observer stands.
  ///   - observer: is called on the main actor.
  /// - Returns: what keeps the observer; it is called no more once that is cancelled or released.
  /// - Complexity: constant.
  public func observe(
    label: String? = nil, fileID: String = #fileID, line: Int = #line,
    _ observer: @escaping @MainActor @Sendable (TraceEvent) throws -> Void
  ) -> ObserverToken {
    let observer = TraceObserver(Subscriber(label: label, fileID: fileID, line: line), observer)
    observers.add(observer)
    return ObserverToken(observer)
  }

  /// The calls of the program's code that have begun and have not ended, oldest first.
  ///
  /// May be read from any thread. So a host can name the code that blocks the main actor: the last call that is synchronous, if
  /// there is one. Kept while the application is observed; empty otherwise.
  ///
  /// - Complexity: linear in their number.
  public nonisolated var openCalls: [TracedCall] { observers.openCalls }

  /// The time of the application's clock, as records have it.
  package var instant: Duration { timing.now() }

  // MARK: Telling

  /// Calls the observers; does nothing, and makes no event, while there are none.
  func tell(_ event: @autoclosure () -> TraceEvent) {
    guard !observers.isEmpty else { return }
    observers.tell(event(), now: timing.now) { call($0, with: $1) }
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

  private func call(_ observer: TraceObserver, with event: TraceEvent) {
    let began = budget == nil ? nil : timing.now()
    // What an observer starts belongs to no handler.
    let result = HandlerScope.outside {
      tasks.naming(observer.source) { Result { try observer.body(event) } }
    }
    if let began { noteOverrun(of: observer, began: began) }
    guard case .failure(let error) = result, !observer.hasFailed.exchange(true, ordering: .relaxed) else { return }
    noteOnly(
      LedgerEntry(
        .observer, observer.source, step: "observe", began: timing.now(), duration: .zero,
        outcome: .failed(String(describing: error))))
    record(.report, "observerFailed:\(observer.source)", presentCause ?? LifecycleCause(rawValue: "observe"))
  }

  /// The observer that uses up the last of a budget is to blame for it.
  private func noteOverrun(of observer: TraceObserver, began: Duration) {
    let end = timing.now()
    guard let budget, began <= budget.deadline, end > budget.deadline, budget.culprits.isEmpty else { return }
    self.budget?.culprits.append(observer.source.description)
    noteOnly(
      LedgerEntry(
        .observer, observer.source, step: "observe", began: began, duration: end - began, outcome: .overran))
  }

  /// Adds to the ledger, and calls no observer: that of an observer's own call would never end.
  private func noteOnly(_ entry: LedgerEntry) { ledgerKeeper.note(entry, on: ledgerKeeper.present) }

  // MARK: Inputs

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
      instant: timing.now(), kind: kind, name: name.rawValue, state: state, cause: cause, reason: reason)
  }
}
