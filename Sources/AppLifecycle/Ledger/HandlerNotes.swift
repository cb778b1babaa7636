internal import PubSub

/// Notes what became of a notification at its handlers.
///
/// A handler that has returned, in time and while nothing observes, is added to a list that the ledger takes over in one piece: when
/// all have been called, or before that when something else is noted or the ledger is read.
@MainActor final class HandlerNotes {
  let page: LedgerKeeper.PageID?
  let wantsBeginnings: Bool
  private let method: String
  private let isTearDown: Bool
  /// The application's, while the synchronous handlers are being called; what waits must not keep observers that the application
  /// alone is to keep.
  private var observers: ObserverList?
  /// When the handlers have to have returned; nil if there is no such time.
  private let deadline: Duration?
  private weak var application: Application?
  // Touched for each handler, by nothing that these accesses call.
  @exclusivity(unchecked) private var returned: [HandlerTime] = []

  init(of application: Application, _ method: String, on page: LedgerKeeper.PageID?, isTearDown: Bool) {
    (self.method, self.page, self.isTearDown) = (method, page, isTearDown)
    (self.application, observers) = (application, application.observers)
    wantsBeginnings = !application.observers.isEmpty
    deadline = isTearDown ? application.tearDown.deadline : nil
  }

  /// What returns from now on is noted at once.
  func endPosting(into ledger: inout LedgerKeeper) {
    flush(into: &ledger)
    observers = nil
  }

  /// Hands over to the ledger.
  func flush(into ledger: inout LedgerKeeper) {
    if returned.isEmpty { return }
    // Made large enough for all that might follow; what is kept for long is as large as it has to be.
    let kept = returned.capacity > 2 * returned.count ? returned.map(\.self) : returned
    ledger.note(kept, step: method, on: page)
    returned = []
  }
}

extension HandlerNotes: PostObserver {
  func handlersFollow(_ count: Int) { if observers != nil, returned.isEmpty { returned.reserveCapacity(count) } }

  func handlerBegins(_ subscriber: Subscriber, at time: Duration, isSynchronous: Bool) -> UInt64? {
    application?.callBegins(
      LedgerEntry(.subscriber, subscriber, step: method, began: time, duration: .zero, outcome: .completed),
      isSynchronous: isSynchronous)
  }

  func handlerReturned(_ site: consuming Site, began: Duration, ended: Duration) {
    var isOrdinary = observers?.isEmpty ?? false
    if let deadline, ended > deadline { isOrdinary = false }
    if isOrdinary { return returned.append(HandlerTime(site: site, began: began, ended: ended)) }
    let entry = LedgerEntry(
      .subscriber, site.subscriber, step: method, began: began, duration: ended - began, outcome: .completed)
    application?.note(entry, on: page, isTearDown: isTearDown)
  }

  func deliveryEnded(_ delivery: ObservedDelivery) {
    guard let application else { return }
    let outcome: LedgerEntry.Outcome =
      switch delivery.outcome {
      case .delivered: .completed
      case .threw(let error): .failed(String(describing: error))
      case .cancelled: .cancelled
      case .late: .overran
      case .cutShort, .dropped: .cutShort
      }
    // One that was not called has no entry, and took no time, however long its event waited.
    let isDropped = if case .dropped = delivery.outcome { true } else { false }
    let entry = LedgerEntry(
      .subscriber, delivery.subscriber, step: method, began: delivery.began,
      duration: isDropped ? .zero : delivery.duration, outcome: outcome)
    if isDropped { return application.tell(.callEnded(entry, of: delivery.call)) }
    application.note(entry, of: delivery.call, on: page, isTearDown: isTearDown)
  }
}
