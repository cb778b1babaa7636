internal import CPubSub
internal import Scheduling

// The general path of a post: it gives the event to the receivers, calls the synchronous handlers, and reports an event
// that no subscriber received.

/// A post under way on this thread, which protects the blocks that it reads.
struct PostUnderWay {
  let frame: UnsafeMutablePointer<pubsub_frame>
  private let record: UnsafeMutablePointer<pubsub_record>
  private let depth: Int
  /// The number of the change for the post in which this one is nested.
  private let outerChange: Int
  /// The blocks of the post's subject and of the wider subject to which it belongs.
  private(set) var subjects: (HandlerBlock?, HandlerBlock?)
  /// The identifier of the first subscription that does not see the post.
  let firstUnseen: UInt64
  let isReversed: Bool
  /// The number of the change of a sticky type's latest event.
  let change: Int
  /// The number of handlers in the block of the topic when the post began.
  fileprivate let handlerCount: Int

  /// Begins a post on this thread or, with an earlier `firstUnseen`, continues a ``MeasuredPost`` after a pause; see ``end()``.
  init(
    on store: HandlerStore, from subject: AnyObject?, within wider: AnyObject? = nil, before firstUnseen: UInt64? = nil,
    change: Int
  ) {
    self.change = change
    let topic = store.topic
    isReversed = store.isReversed
    // A subscription that is made from now on has this identifier or a higher one.
    self.firstUnseen = firstUnseen ?? store.core.nextID
    record = pubsub_record_of_thread()
    (outerChange, record.pointee.change) = (record.pointee.change, change)
    depth = pubsub_depth(record)
    frame = pubsub_enter(record, depth, topic, Posting.address(of: subject), /* reads: */ true)
    handlerCount = frame.pointee.block.map(pubsub_end) ?? 0
    if pubsub_flags(topic) & Int(PUBSUB_SUBJECTS) == 0 { return }
    func block(of subject: AnyObject?, _ slot: Int) -> HandlerBlock? {
      guard let subject = Posting.address(of: subject) else { return nil }
      return pubsub_protect_subject(frame, slot, topic, subject).map(HandlerBlock.init(at:))
    }
    // If both are one object, the walk must not go through its block twice: each handler would receive the event twice.
    subjects = (block(of: subject, 1), wider === subject ? nil : block(of: wider, 2))
  }

  /// The words that announce what the post is at in each block.
  var slots: UnsafeMutablePointer<UnsafeRawPointer?> {
    UnsafeMutableRawPointer(frame).assumingMemoryBound(to: UnsafeRawPointer?.self)
  }

  /// The block of the topic.
  var block: HandlerBlock? { frame.pointee.block.map { HandlerBlock(at: $0) } }
  /// Whether all handlers are in the block of the topic, and are called from its beginning to its end.
  fileprivate var isOneForwardBlock: Bool { subjects.0 == nil && subjects.1 == nil && !isReversed }

  /// Moves on in each block from the handler that is announced there; not under a lock, because it may run the program's code.
  func moveOn() {
    for slot in 0..<3 where slots[slot] != nil { pubsub_move_on(frame, slots + slot) }
  }

  /// Ends the post; from now on it protects nothing, and after the outermost one a refusal is reported.
  func end() {
    record.pointee.change = outerChange
    pubsub_leave(record, depth)
  }
}

extension HandlerStore {
  /// Posts an event at an address on the general path, and calls `whenOver` as soon as the handlers have returned; returns the
  /// number of the change of the latest event, 0 if there was none.
  @discardableResult
  final func postGenerally(
    _ event: UnsafeRawPointer, from subject: (any AnyObject & Sendable)?,
    within wider: (any AnyObject & Sendable)? = nil, whenOver: (() -> Void)? = nil
  ) -> Int {
    guard canPost() else { return 0 }
    callTracers(with: event, from: subject)
    // Up to three walks: one holds the event, for a sticky event under the sticky lock, so it must not move on, which may run
    // the program's code; one wakes the receivers; one calls the handlers.
    var held = HoldOutcome.nothing
    var begun: PostUnderWay?
    var hadReceivers = false
    keepLatest(event, from: subject) { change in
      let post = PostUnderWay(on: self, from: subject, within: wider, change: change)
      begun = post
      hadReceivers = hasReceivers
      if !hadReceivers { return }
      var walk = DeliveryWalk(post)
      while let place = walk.next(movesOn: false) {
        if let receiver = place.receiver { held.formUnion(receiver.hold(event, of: self, .posted)) }
      }
    }
    // The body is always called.
    guard let post = begun else { return 0 }
    // The walk that held the event still announces the last handler of each block, also a synchronous one.
    if hadReceivers { post.moveOn() }
    if held.contains(.mustWake) {
      var walk = DeliveryWalk(post)
      Posting.withoutSubject { while let place = walk.next() { place.receiver?.wake() } }
    }
    let isReceived = call(event, post, hadReceivers: hadReceivers) || held.contains(.isTaken)
    whenOver?()
    post.end()
    if !isReceived { core.reportUndelivered(event, of: self) }
    return post.change
  }

  var hasReceivers: Bool { pubsub_flags(topic) & Int(PUBSUB_RECEIVERS) != 0 }

  /// Calls the synchronous handlers; returns whether one received the event, or true if no caller needs to know.
  private func call(_ event: UnsafeRawPointer, _ post: PostUnderWay, hadReceivers: Bool) -> Bool {
    if post.isOneForwardBlock, !hadReceivers, !core.isWatched {
      // `handlerCount`, not the present end of the block: handlers may have been added since the post announced it.
      pubsub_call_first(post.frame, post.handlerCount, event)
      return true
    }
    var isReceived = false
    var walk = DeliveryWalk(post)
    while let place = walk.next() {
      switch place.call(with: event) {
      case .notCalled: continue
      case .returned: break
      case .threw(let error): core.report(error, of: place.entry.subscriber, with: self.event(at: event))
      }
      isReceived = true
    }
    return isReceived
  }

  /// Returns whether the nesting limit allows another post on this thread; if not, notes the refusal.
  func canPost() -> Bool {
    let record = pubsub_record_of_thread()
    let (depth, ceiling) = (pubsub_depth(record), record.pointee.ceiling)
    if depth < topic.pointee.limit, ceiling == 0 || depth < ceiling { return true }
    core.refuse(name, record)
    return false
  }

  /// Calls the tracers with an event; their own posts count as nested.
  func callTracers(with event: UnsafeRawPointer, from subject: AnyObject?) {
    if !core.isWatched { return }
    let tracers = core.tracers.withLock { $0 }
    if tracers.isEmpty { return }
    let record = pubsub_record_of_thread()
    let depth = pubsub_depth(record)
    pubsub_enter(record, depth, topic, Posting.address(of: subject), /* reads: */ false)
    let event = self.event(at: event)
    for tracer in tracers { tracer.body(event) }
    // Not `pubsub_leave`: each caller begins its post at once, and the end of that post reports what a tracer was refused.
    pubsub_clear(record, depth)
  }
}
