internal import CPubSub

/// The walk through the handlers of a topic in the order of delivery, which every kind of post uses.
///
/// It yields spans: consecutive handlers in one buffer that are also consecutive in the order of delivery. It visits
/// one priority after another. Within a priority it merges two lists by identifier: the handlers of the post's subject,
/// and the handlers of all posts. It skips handlers that subscribed after the post began. The post protects the memory
/// that the walk reads.
struct DeliveryOrder {
  /// Consecutive handlers of one priority.
  struct Span {
    let buffer: HandlerBuffer
    fileprivate(set) var first: Int
    fileprivate(set) var count: Int
    /// 1, or -1 for events with the trait `reversed`.
    let step: Int

    /// Makes a span of the handlers of a buffer that the post sees; handlers that subscribed later are at the end of the buffer.
    init(of buffer: HandlerBuffer, before firstUnseen: UInt64, isReversed: Bool) {
      var count = buffer.end
      let entries = buffer.entries
      while count > 0, entries[count - 1].id >= firstUnseen { count -= 1 }
      (self.buffer, self.count) = (buffer, count)
      (first, step) = isReversed ? (count - 1, -1) : (0, 1)
    }

    var firstHandler: UnsafeMutablePointer<pubsub_handler> { buffer.handlers + first }
    var firstPlace: UnsafePointer<pubsub_place> { pubsub_places(buffer.base) + first }
    fileprivate var firstID: UInt64 { buffer.entries[first].id }
    /// The places in the buffer, in the order of delivery.
    var places: some Sequence<Int> { (0..<count).lazy.map { [first, step] in first + $0 * step } }

    /// Removes places from the front, and returns them as a span.
    fileprivate mutating func takeFirst(_ taken: Int) -> Span {
      var span = self
      span.count = taken
      first += taken * step
      count -= taken
      return span
    }
  }

  /// The buffers of one list, by priority.
  private enum Buffers {
    case one(HandlerBuffer)
    case many(Directory)

    var count: Int {
      switch self {
      case .one: 1
      case .many(let directory): directory.count
      }
    }

    func buffer(_ index: Int) -> HandlerBuffer {
      switch self {
      case .one(let buffer): buffer
      case .many(let directory): directory.buffer(index)
      }
    }
  }

  private let all: Buffers
  private let ofSubject: Buffers?
  private let firstUnseen: UInt64
  private let isReversed: Bool
  /// The number of buffers of each list that the walk has begun.
  private var (allStep, subjectStep) = (0, 0)
  /// The rest of a priority that both lists have.
  private var merging: (one: Span, other: Span)?

  /// Makes a walk from the beginning.
  ///
  /// - Parameters:
  ///   - root: the topic's root, which the caller protects.
  ///   - subject: the address of the post's subject.
  ///   - firstUnseen: the identifier of the first subscription that does not see the post.
  ///   - isReversed: whether the order is reversed (trait `reversed`).
  init(_ root: UnsafeRawPointer, from subject: UnsafeRawPointer?, before firstUnseen: UInt64, isReversed: Bool) {
    (self.firstUnseen, self.isReversed) = (firstUnseen, isReversed)
    if pubsub_is_directory(root) {
      let directory = Directory(root: root)
      all = .many(directory)
      ofSubject = subject.flatMap { directory.subjects?.handlers(of: $0) }.map { .many($0) }
    } else {
      (all, ofSubject) = (.one(HandlerBuffer(root: root)), nil)
    }
  }

  /// The priority of the next span; nil at the end.
  var priority: Int? {
    if let merging { return merging.one.buffer.priority }
    switch (next(all, allStep)?.priority, next(ofSubject, subjectStep)?.priority) {
    case (let one?, let other?): return comesFirst(one, other) ? one : other
    case (let one, let other): return one ?? other
    }
  }

  /// Skips this priority and all priorities before it.
  mutating func skip(through priority: Int) {
    while let present = self.priority, present == priority || comesFirst(present, priority) { _ = next() }
  }

  /// The next span, which may have no places; nil at the end.
  mutating func next() -> Span? {
    if merging != nil { return nextOfMerge() }
    switch (next(all, allStep), next(ofSubject, subjectStep)) {
    case (nil, nil): return nil
    case (let one?, let other?) where one.priority == other.priority:
      (allStep, subjectStep) = (allStep + 1, subjectStep + 1)
      merging = (span(one), span(other))
      return nextOfMerge()
    case (let one?, let other?) where comesFirst(other.priority, one.priority):
      subjectStep += 1
      return span(other)
    case (let one?, _):
      allStep += 1
      return span(one)
    case (nil, let other?):
      subjectStep += 1
      return span(other)
    }
  }

  private func comesFirst(_ one: Int, _ other: Int) -> Bool { isReversed ? one < other : one > other }

  private func next(_ buffers: Buffers?, _ step: Int) -> HandlerBuffer? {
    guard let buffers, step < buffers.count else { return nil }
    return buffers.buffer(isReversed ? buffers.count - 1 - step : step)
  }

  private func span(_ buffer: HandlerBuffer) -> Span {
    Span(of: buffer, before: firstUnseen, isReversed: isReversed)
  }

  /// Returns the next span of two lists in one order; the identifiers tell which handler subscribed first.
  private mutating func nextOfMerge() -> Span? {
    guard var (one, other) = merging else { return nil }
    if one.count == 0 || other.count == 0 {
      merging = nil
      return one.count == 0 ? other : one
    }
    let takesOne = isBefore(one, other)
    if !takesOne { swap(&one, &other) }
    var run = one.takeFirst(1)
    while one.count > 0, isBefore(one, other) {
      _ = one.takeFirst(1)
      run.count += 1
    }
    merging = takesOne ? (one, other) : (other, one)
    return run
  }

  private func isBefore(_ one: Span, _ other: Span) -> Bool {
    (one.firstID < other.firstID) != isReversed
  }
}
