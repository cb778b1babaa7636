internal import CPubSub

/// The walk through the handlers of a topic in the order of delivery, which every kind of post uses.
///
/// It yields spans: consecutive handlers in one buffer that are also consecutive in the order of delivery. It visits
/// one priority after another. Within a priority it merges the lists by identifier: the handlers of all posts, those of
/// the post's subject, and those of the wider subject to which the post's subject belongs. It skips handlers that
/// subscribed after the post began. The post protects the memory that the walk reads.
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

  /// The buffers of one list, and how many of them the walk has begun.
  private struct List {
    let buffers: Buffers
    var step = 0

    /// The next buffer; nil at the end.
    func next(isReversed: Bool) -> HandlerBuffer? {
      guard step < buffers.count else { return nil }
      return buffers.buffer(isReversed ? buffers.count - 1 - step : step)
    }
  }

  private var all: List?
  private var ofSubject: List?
  private var ofWider: List?
  private let firstUnseen: UInt64
  private let isReversed: Bool
  /// The rest of a priority that several lists have.
  private var merging: (one: Span, other: Span, third: Span?)?

  /// Makes a walk from the beginning.
  ///
  /// - Parameters:
  ///   - root: the topic's root, which the caller protects.
  ///   - subject: the address of the post's subject.
  ///   - wider: the address of the wider subject to which the post's subject belongs; nil if there is none.
  ///   - firstUnseen: the identifier of the first subscription that does not see the post.
  ///   - isReversed: whether the order is reversed (trait `reversed`).
  init(
    _ root: UnsafeRawPointer, from subject: UnsafeRawPointer?, within wider: UnsafeRawPointer?,
    before firstUnseen: UInt64, isReversed: Bool
  ) {
    (self.firstUnseen, self.isReversed) = (firstUnseen, isReversed)
    guard pubsub_is_directory(root) else {
      all = List(buffers: .one(HandlerBuffer(root: root)))
      return
    }
    let directory = Directory(root: root)
    all = List(buffers: .many(directory))
    guard let subjects = directory.subjects else { return }
    ofSubject = subject.flatMap { subjects.handlers(of: $0) }.map { List(buffers: .many($0)) }
    ofWider = wider.flatMap { subjects.handlers(of: $0) }.map { List(buffers: .many($0)) }
  }

  /// The priority of the next span; nil at the end.
  var priority: Int? {
    if let merging { return merging.one.buffer.priority }
    return first(first(priority(of: all), priority(of: ofSubject)), priority(of: ofWider))
  }

  /// Skips this priority and all priorities before it.
  mutating func skip(through priority: Int) {
    while let present = self.priority, present == priority || comesFirst(present, priority) { _ = next() }
  }

  /// The next span, which may have no places; nil at the end.
  mutating func next() -> Span? {
    if merging != nil { return nextOfMerge() }
    guard let priority else { return nil }
    let (firstUnseen, isReversed) = (firstUnseen, isReversed)
    func take(_ list: inout List?) -> Span? {
      guard let buffer = list?.next(isReversed: isReversed), buffer.priority == priority else { return nil }
      list?.step += 1
      return Span(of: buffer, before: firstUnseen, isReversed: isReversed)
    }
    switch (take(&all), take(&ofSubject), take(&ofWider)) {
    case (let one?, let other?, let third): merging = (one, other, third)
    case (let one?, nil, let other?), (nil, let one?, let other?): merging = (one, other, nil)
    case (let one, let other, let third): return one ?? other ?? third
    }
    return nextOfMerge()
  }

  private func priority(of list: List?) -> Int? { list?.next(isReversed: isReversed)?.priority }

  private func first(_ one: Int?, _ other: Int?) -> Int? {
    guard let one, let other else { return one ?? other }
    return comesFirst(one, other) ? one : other
  }

  private func comesFirst(_ one: Int, _ other: Int) -> Bool { isReversed ? one < other : one > other }

  /// Returns the next span of several lists in one order; the identifiers tell which handler subscribed first.
  private mutating func nextOfMerge() -> Span? {
    guard var (one, other, third) = merging else { return nil }
    if third?.count == 0 { third = nil }
    if one.count == 0, let last = third { (one, third) = (last, nil) }
    if other.count == 0, let last = third { (other, third) = (last, nil) }
    if one.count == 0 || other.count == 0 {
      merging = nil
      return one.count == 0 ? other : one
    }
    if isBefore(other, one) { swap(&one, &other) }
    if let last = third, isBefore(last, one) { (one, third) = (last, one) }
    var run = one.takeFirst(1)
    while one.count > 0, isBefore(one, other), third.map({ isBefore(one, $0) }) ?? true {
      _ = one.takeFirst(1)
      run.count += 1
    }
    merging = (one, other, third)
    return run
  }

  private func isBefore(_ one: Span, _ other: Span) -> Bool {
    (one.firstID < other.firstID) != isReversed
  }
}
