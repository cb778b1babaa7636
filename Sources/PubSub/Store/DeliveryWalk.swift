internal import CPubSub

/// The walk through the handlers of a topic in the order of delivery.
///
/// It merges the handlers without a subject, those of the post's subject, and those of a wider subject, by priority and
/// identifier, and skips handlers that subscribed after the post began. The post protects the blocks that the walk
/// reads.
struct DeliveryWalk {
  /// The next handler of one block.
  private struct Cursor {
    let block: HandlerBlock?
    let slot: UnsafeMutablePointer<UnsafeRawPointer?>
    var index: Int
    var count: Int

    init(_ block: HandlerBlock?, _ slot: UnsafeMutablePointer<UnsafeRawPointer?>, step: Int) {
      (self.block, self.slot) = (block, slot)
      count = block?.end ?? 0
      index = step > 0 ? 0 : count - 1
    }

    var entry: HandlerBlock.Entry { block.unsafelyUnwrapped.entries[index] }

    mutating func advance(_ step: Int) {
      index += step
      count -= 1
    }
  }

  private let frame: UnsafeMutablePointer<pubsub_frame>
  private let firstUnseen: UInt64
  /// 1, or -1 for reversed events.
  private let step: Int
  /// The cursors of the blocks; the first one has the next handler, once ``bringNextFirst()`` has looked.
  private var (first, second, third): (Cursor, Cursor, Cursor)
  /// The slot in which the last handler is announced.
  private var announced: UnsafeMutablePointer<UnsafeRawPointer?>?

  /// The number of handlers that ``next()`` has returned, in this walk and the earlier ones of a ``MeasuredPost``.
  private(set) var position: Int

  /// Makes a walk that counts from a position.
  init(_ post: PostUnderWay, from position: Int = 0) {
    self.position = position
    frame = post.frame
    firstUnseen = post.firstUnseen
    step = post.isReversed ? -1 : 1
    first = Cursor(post.block, post.slots, step: step)
    second = Cursor(post.subjects.0, post.slots + 1, step: step)
    third = Cursor(post.subjects.1, post.slots + 2, step: step)
  }

  /// Announces the next handler, so that its context is not released, and returns it; nil at the end.
  ///
  /// With `movesOn`, the post moves on from the handler before (`pubsub_move_on`). If a thread waits for that (`reports_move`),
  /// the post runs what waits, and so perhaps the program's code; so `movesOn` is false under a lock.
  mutating func next(movesOn: Bool = true) -> HandlerPlace? {
    if movesOn { moveOn() }
    bringNextFirst()
    let cursor = first
    if cursor.count <= 0 { return nil }
    first.advance(step)
    announced = cursor.slot
    defer { position += 1 }
    let block = cursor.block.unsafelyUnwrapped
    pubsub_announce(cursor.slot, block.handlers + cursor.index)
    Hook.step("visit: look at the handler")
    return HandlerPlace(block: block, index: cursor.index, position: position, frame: frame)
  }

  /// Moves on from the last handler.
  mutating func moveOn() {
    if let announced { pubsub_move_on(frame, announced) }
    announced = nil
  }

  /// The priority of the next handler; nil at the end.
  var priority: Int? {
    mutating get {
      bringNextFirst()
      return first.count > 0 ? first.entry.priority : nil
    }
  }

  /// The number of handlers that remain, or a higher one.
  var remaining: Int { first.count + second.count + third.count }

  /// Skips this priority and all priorities before it.
  mutating func skip(through priority: Int) {
    while let present = self.priority, present == priority || comesFirst(present, priority) { first.advance(step) }
  }

  /// Whether handlers of one priority come before those of another one.
  private func comesFirst(_ one: Int, _ other: Int) -> Bool { step > 0 ? one > other : one < other }

  /// Makes the cursor that has the next handler the first one.
  private mutating func bringNextFirst() {
    skipUnseen(&first)
    if second.count > 0 || third.count > 0 {
      skipUnseen(&second)
      skipUnseen(&third)
      if comesFirst(third, second) { swap(&third, &second) }
      if comesFirst(second, first) { swap(&second, &first) }
    }
  }

  private func skipUnseen(_ cursor: inout Cursor) {
    while cursor.count > 0, cursor.entry.id >= firstUnseen { cursor.advance(step) }
  }

  private func comesFirst(_ one: Cursor, _ other: Cursor) -> Bool {
    guard one.count > 0, other.count > 0 else { return one.count > 0 }
    let (one, other) = (one.entry, other.entry)
    if one.priority != other.priority { return comesFirst(one.priority, other.priority) }
    return step > 0 ? one.id < other.id : one.id > other.id
  }
}

/// A handler that a post is at and has announced, so that what the handler captured is not released.
struct HandlerPlace {
  let block: HandlerBlock
  let index: Int
  /// The position of the handler among all that the post reaches, in the order of delivery.
  let position: Int
  /// The frame of the post, which is the innermost one on this thread whenever the post calls a handler.
  private let frame: UnsafeMutablePointer<pubsub_frame>

  fileprivate init(block: HandlerBlock, index: Int, position: Int, frame: UnsafeMutablePointer<pubsub_frame>) {
    (self.block, self.index, self.position, self.frame) = (block, index, position, frame)
  }

  /// The entry; once the handler is cancelled, its registration may have been released.
  var entry: HandlerBlock.Entry { block.entries[index] }
  private var handler: UnsafeMutablePointer<pubsub_handler> { block.handlers + index }
  /// Whether the handler is not cancelled.
  var isLiving: Bool { pubsub_function_of(handler) != pubsub_cancelled() }

  /// The receiver; nil if the handler is synchronous or cancelled.
  var receiver: Receiver? {
    guard entry.isAsynchronous, isLiving, !hasFormerSubject, let context = handler.pointee.context else { return nil }
    return Unmanaged.fromOpaque(context).takeUnretainedValue()
  }

  /// Whether the subscription's subject has been released, so that another object, the post's subject, has its address.
  ///
  /// That happens in the portable build, whose weak references do not keep an object's memory; those of the direct build do. If the
  /// subject exists, it is the post's own, so this look at it cannot become its last reference.
  private var hasFormerSubject: Bool {
    if Calling.isDirect { return false }
    guard let registration = entry.registration, registration.subjectAddress != nil else { return false }
    return registration.subject == nil
  }

  /// Ends the subscription if its owner or subject has been released; returns whether it has.
  func endsIfExpired() -> Bool {
    guard let registration = entry.registration, registration.isExpired else { return false }
    registration.cancel()
    return true
  }

  /// Calls the handler, if it is synchronous.
  func call(with event: UnsafeRawPointer) -> CallOutcome {
    let function = pubsub_function_of(handler)
    if entry.isAsynchronous || function == pubsub_cancelled() { return .notCalled }
    if hasFormerSubject {
      entry.registration?.cancel()
      return .notCalled
    }
    frame.pointee.is_unheard = false
    if let error = pubsub_call_announced(function, handler, event) { return .threw(Calling.error(taking: error)) }
    return frame.pointee.is_unheard ? .notCalled : .returned
  }
}

enum CallOutcome {
  case returned
  case threw(any Error)
  /// The handler is asynchronous or cancelled, its owner had been released, or its one event has come.
  case notCalled
}
