internal import PubSub

/// The notes of one post about the calls of its handlers.
///
/// A handler that returns in time, while the application has no observers, is added to a list. The ledger takes the
/// whole list over when all handlers have been called, or earlier, when another note follows or the ledger is read.
@MainActor final class HandlerNotes {
  let page: ApplicationLedger.PageID?
  let wantsBeginnings: Bool
  private let method: String
  private let isTearDown: Bool
  /// The transition that posts; a handler of a later priority may begin after it.
  private let transition: TracedTransition.ID?
  /// The observers of the application while synchronous handlers are called; nil later, because a post whose
  /// asynchronous handlers still run must not retain the observers.
  @exclusivity(unchecked) private var observers: ObserverList?
  /// The time after which a handler is late; nil if the handlers have no deadline.
  private let deadline: Duration?
  private let reference: ApplicationReference
  private var application: Application? { reference.application }
  // Accessed for each handler; no code that runs during an access touches the list.
  @exclusivity(unchecked) private var returned = HandlerTimes()

  init(of application: Application, _ method: String, on page: ApplicationLedger.PageID?, isTearDown: Bool) {
    (self.method, self.page, self.isTearDown) = (method, page, isTearDown)
    (reference, observers) = (application.reference, application.observers)
    wantsBeginnings = application.observers.describesCalls
    transition = application.transitions.traced
    deadline = isTearDown ? application.tearDown.deadline : nil
  }

  /// Adds the collected handlers to the ledger; handlers that return later are noted one by one.
  func endPosting(into ledger: ApplicationLedger) {
    flush(into: ledger)
    observers = nil
  }

  /// Adds the collected handlers to the ledger, and empties the list.
  func flush(into ledger: ApplicationLedger) {
    if returned.isEmpty { return }
    // The list has room for every announced handler, and the ledger keeps it for long.
    ledger.note(returned.compact, step: method, on: page)
    returned = HandlerTimes()
  }
}

extension HandlerNotes: PostObserver {
  func handlersFollow(_ count: Int) { if observers != nil, returned.isEmpty { returned.reserveCapacity(count) } }

  func handlerBegins(_ subscriber: EventBus.Subscriber, at time: Duration, isSynchronous: Bool) -> BegunCall? {
    let call = application?.callBegins(
      LedgerEntry(.subscriber, subscriber, step: method, began: time, duration: .zero, outcome: .completed),
      isSynchronous: isSynchronous, in: transition)
    return call.map { ($0.id, application?.intercepted($0)) }
  }

  func handlerReturned(_ site: Unmanaged<Site>, at position: Int, began: Duration, ended: Duration) {
    var isOrdinary = observers?.isEmpty ?? false
    if let deadline, ended > deadline { isOrdinary = false }
    if isOrdinary { return returned.append(site, began: began, ended: ended) }
    let entry = LedgerEntry(
      .subscriber, site.takeUnretainedValue().subscriber, step: method, began: began, duration: ended - began,
      outcome: .completed)
    application?.note(entry, on: page, isTearDown: isTearDown)
  }

  func deliveryEnded(_ delivery: ObservedDelivery) {
    guard let application else { return }
    let outcome: LedgerEntry.Outcome =
      switch delivery.outcome {
      case .delivered: .completed
      case .threw(let error): delivery.isOfCancellation ? .cancelled : .failed(error.text)
      case .timedOut: delivery.isBlamed ? .overran : .cutShort
      case .skipped, .cancelled: .cutShort
      }
    var entry = LedgerEntry(
      .subscriber, delivery.subscriber, step: method, began: delivery.began, duration: delivery.duration,
      outcome: outcome)
    guard case .cancelled = delivery.outcome else {
      return application.note(entry, of: delivery.callNumber, on: page, isTearDown: isTearDown)
    }
    // A handler that was not called gets no entry, and took no time, however long its event waited.
    entry.duration = .zero
    if let call = delivery.callNumber { application.tell(.callEnded(entry, of: call)) }
  }
}
