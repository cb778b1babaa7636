internal import CPubSub
internal import Scheduling

// The general path of a post: it protects what it reads, gives the event to the receivers, calls the synchronous
// handlers, and frees garbage or reports a refusal, if necessary.

/// A post under way on this thread.
struct PostUnderWay {
  fileprivate let record: UnsafeMutablePointer<pubsub_record>
  fileprivate let depth: Int
  /// The topic's root, which the post protects.
  fileprivate let root: UnsafeRawPointer?
  private let subject: UnsafeRawPointer?
  private let wider: UnsafeRawPointer?
  /// The identifier of the first subscription that does not see the post.
  private let firstUnseen: UInt64
  private let isReversed: Bool

  fileprivate init(
    _ record: UnsafeMutablePointer<pubsub_record>, _ frame: pubsub_frame, within wider: AnyObject?,
    before firstUnseen: UInt64, isReversed: Bool
  ) {
    (self.record, self.firstUnseen, self.isReversed) = (record, firstUnseen, isReversed)
    self.wider = wider.map { UnsafeRawPointer(Unmanaged.passUnretained($0).toOpaque()) }
    depth = pubsub_depth(record)
    subject = frame.subject
    root = pubsub_enter(record, depth, frame)
  }

  /// A walk through the handlers from the beginning; nil if there are none.
  var walk: DeliveryOrder? {
    root.map { DeliveryOrder($0, from: subject, within: wider, before: firstUnseen, isReversed: isReversed) }
  }

  /// Calls with each span, in the order of delivery.
  @inline(__always)
  fileprivate func forEachSpan(_ body: (DeliveryOrder.Span) -> Void) {
    guard let root else { return }
    // One buffer is one span. To set up a walk for it would take a third of what a post to a sticky type takes.
    if !pubsub_is_directory(root) {
      return body(.init(of: HandlerBuffer(root: root), before: firstUnseen, isReversed: isReversed))
    }
    var walk = DeliveryOrder(root, from: subject, within: wider, before: firstUnseen, isReversed: isReversed)
    while let span = walk.next() { body(span) }
  }
}

extension HandlerStore {
  /// Posts an event on the general path: events with traits, topics with several priorities, subjects, receivers or
  /// observers, deep nesting.
  ///
  /// - Parameters:
  ///   - event: the address of the event.
  ///   - subject: the object that the event is about.
  ///   - whenOver: called when the handlers have returned, before anything else happens; may be nil.
  final func postGenerally(
    _ event: UnsafeRawPointer, from subject: (any AnyObject & Sendable)?, whenOver: (() -> Void)? = nil
  ) {
    guard canPost() else { return }
    show(event, from: subject)
    var held = HoldOutcome.nothing
    var begun: PostUnderWay?
    inOrder(event, from: subject) {
      let post = begin(from: subject)
      if pubsub_flags(topic) & Int(PUBSUB_RECEIVERS) != 0 { held = hold(event, post) }
      begun = post
    }
    guard let post = begun else { return }
    if held.contains(.sleeps) { wake(post) }
    let isReceived = call(event, post) || held.contains(.isHeld)
    end(post)
    whenOver?()
    if !isReceived { core.reportUndelivered(event, of: self) }
    settle(after: post)
  }

  /// Calls the synchronous handlers; returns whether one of them received the event, or true if no caller needs to
  /// know.
  private func call(_ event: UnsafeRawPointer, _ post: PostUnderWay) -> Bool {
    if post.root == nil { return false }
    // If all handlers are synchronous and there are no observers, no entry has to be read.
    guard pubsub_flags(topic) & Int(PUBSUB_RECEIVERS) != 0 || core.isWatched else {
      post.forEachSpan { pubsub_call_span($0.firstHandler, $0.firstPlace, $0.count, $0.step, event) }
      return true
    }
    var isReceived = false
    post.forEachSpan {
      if pubsub_call_synchronous($0.firstHandler, $0.firstPlace, $0.count, $0.step, event) { isReceived = true }
    }
    return isReceived
  }

  /// Returns whether the nesting limit allows another post on this thread; if not, notes the refusal.
  func canPost() -> Bool {
    let record = pubsub_record_of_thread()
    if pubsub_depth(record) < topic.pointee.limit { return true }
    core.refuse(name, record)
    return false
  }

  /// Calls the tracers with an event; posts of the tracers count as nested.
  func show(_ event: UnsafeRawPointer, from subject: AnyObject?) {
    if !core.isWatched { return }
    let tracers = core.tracers.withLock { $0 }
    if tracers.isEmpty { return }
    let record = pubsub_record_of_thread()
    let depth = pubsub_depth(record)
    pubsub_enter_unread(record, depth, frame(subject))
    let event = self.event(at: event)
    for tracer in tracers { tracer.body(event) }
    pubsub_leave(record, depth)
  }

  /// Begins a post on this thread, or continues one that paused.
  ///
  /// - Parameters:
  ///   - subject: the object that the event is about.
  ///   - wider: an object to which the subject belongs; its subscribers receive the post, too.
  ///   - firstUnseen: for a post that continues, the identifier of the first subscription that does not see it; nil for
  ///     a new post.
  /// - Returns: the post, which must be ended on this thread.
  func begin(
    from subject: AnyObject?, within wider: AnyObject? = nil, before firstUnseen: UInt64? = nil
  ) -> PostUnderWay {
    // A subscription that is made from now on has this identifier or a higher one, and does not see this post.
    let firstUnseen = firstUnseen ?? core.nextID
    return PostUnderWay(
      pubsub_record_of_thread(), frame(subject), within: wider, before: firstUnseen,
      isReversed: traits.contains(.reversed))
  }

  /// Ends a post; from now on it protects nothing.
  func end(_ post: PostUnderWay) { pubsub_leave(post.record, post.depth) }

  /// Frees garbage and reports a refusal after a post, if necessary.
  func settle(after post: PostUnderWay) { pubsub_settle(topic, post.root) }

  private func frame(_ subject: AnyObject?) -> pubsub_frame {
    pubsub_frame(topic: topic, subject: subject.map { UnsafeRawPointer(Unmanaged.passUnretained($0).toOpaque()) })
  }
}

// MARK: - Receivers

extension HandlerStore {
  /// Stores an event in all receivers, without starting a task.
  private func hold(_ event: UnsafeRawPointer, _ post: PostUnderWay) -> HoldOutcome {
    var outcome = HoldOutcome.nothing
    forEachReceiver(of: post) { outcome.formUnion($0.hold(event, of: self, .posted)) }
    return outcome
  }

  private func wake(_ post: PostUnderWay) { forEachReceiver(of: post) { $0.wake() } }

  private func forEachReceiver(of post: PostUnderWay, _ body: (Receiver) -> Void) {
    post.forEachSpan { span in
      for place in span.places { span.receiver(at: place).map(body) }
    }
  }
}

extension DeliveryOrder.Span {
  /// Returns the receiver in a place; nil if the handler there is synchronous or cancelled.
  func receiver(at place: Int) -> Receiver? {
    guard buffer.entries[place].isAsynchronous, stands(at: place), let context = buffer.handlers[place].context else {
      return nil
    }
    return Unmanaged.fromOpaque(context).takeUnretainedValue()
  }

  /// Returns whether the handler in a place is not cancelled.
  func stands(at place: Int) -> Bool { pubsub_function_of(buffer.handlers + place) != pubsub_cancelled() }
}
