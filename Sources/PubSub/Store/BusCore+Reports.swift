internal import CPubSub
internal import Scheduling

// What a bus reports: events that no subscriber received, and the errors of the program's code.

extension EventBus {
  /// Reports an error of the program's code, and posts it.
  package func report(_ failure: HandlerFailure) { core.report(failure) }

  /// Calls a closure with each error of the program's code, on the thread of the error, as long as the owner exists;
  /// also with the error of a handler of ``EventBus/HandlerFailure``, which is not posted.
  package func observeFailures(
    for owner: any AnyObject & Sendable, _ body: @escaping @Sendable (HandlerFailure) -> Void
  ) {
    // Released after the lock, as a deinitializer may call the bus: the former observers, and owners whose last reference
    // this look has become.
    let former = core.failureObservers.withLock { observers in
      let former = observers.map { ($0, $0.owner) }
      observers = former.compactMap { observer, owner in owner == nil ? nil : observer }
      observers.append(BusCore.FailureObserver(reference: LightReference(owner), body: body))
      return former
    }
    withExtendedLifetime(former) {}
  }
}

extension BusCore {
  /// Posts `Undelivered` for an event that no subscriber received; never for itself.
  func reportUndelivered(_ event: UnsafeRawPointer, of store: HandlerStore) {
    // Most programs have no subscriber to `Undelivered`, so check that first. A tracer does not count.
    guard let topic = knownTopic(of: EventBus.Undelivered.self), pubsub_root(topic) != nil,
      topic != store.topic
    else { return }
    let event = store.event(at: event)
    // A failure of a handler of `Undelivered` that no subscriber receives would otherwise cause the next one.
    if SelfReport.undelivered.mayBePosted(causedBy: (event as? EventBus.HandlerFailure)?.insideReport) {
      post(EventBus.Undelivered(event: event))
    }
  }

  /// Reports the error that a handler has just thrown, if it is a failure.
  func report(
    _ error: any Error, of subscriber: EventBus.Subscriber, with event: any EventBus.Event, hasRecipient: Bool = false,
    isInLedger: Bool = false
  ) {
    if error.isFailure {
      reportFailure(
        error, of: subscriber, with: event, in: type(of: event), hasRecipient: hasRecipient, isInLedger: isInLedger)
    }
  }

  /// Reports a failure.
  ///
  /// `report` is the kind of report inside whose handler the code ran; if it is nil, the kind is that of `type`, if that is a report.
  ///
  /// `type` is nil for the `missed:` of `receiveAll`.
  func reportFailure(
    _ error: any Error, of subscriber: EventBus.Subscriber, with event: (any EventBus.Event)?,
    in type: (any EventBus.Event.Type)?, inside report: SelfReport? = nil, hasRecipient: Bool = false,
    isInLedger: Bool = false
  ) {
    var failure = EventBus.HandlerFailure(
      subscriber: subscriber, eventName: type?.name ?? "missed", event: event, error: error, hasRecipient: hasRecipient)
    failure.isInLedger = isInLedger
    failure.insideReport = report ?? type.flatMap { SelfReport($0) }
    self.report(failure)
  }

  /// Reports an error of the program's code; all such errors pass this function.
  func report(_ failure: EventBus.HandlerFailure) {
    for observer in failureObservers.withLock({ $0 }) where observer.owner != nil { observer.body(failure) }
    if SelfReport.failure.mayBePosted(causedBy: failure.insideReport) { post(failure) }
  }
}
