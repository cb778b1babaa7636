import AppLifecycleTesting
import Scheduling
import Testing

@testable import PubSub

@Suite struct `The queue of a mailbox` {
  /// What stands in the queue, in the plainest words.
  private enum Item: Equatable {
    case event(Int)
    case awaited(Int, delivery: Int)
    case missed(Int)
  }

  /// The same rules over an array.
  private struct Model {
    let limit: Int
    let dropsOldest: Bool
    var items: [Item] = []

    private static func isPlain(_ item: Item) -> Bool { if case .event = item { true } else { false } }

    mutating func append(_ event: Int) {
      if items.count(where: Self.isPlain) < limit { return items.append(.event(event)) }
      let dropped = dropsOldest ? items.firstIndex(where: Self.isPlain) : nil
      if let dropped { items[dropped] = .missed(1) }
      items.append(dropped == nil ? .missed(1) : .event(event))
      var merged: [Item] = []
      for item in items {
        if case .missed(let more) = item, case .missed(let count) = merged.last {
          merged[merged.count - 1] = .missed(count + more)
        } else {
          merged.append(item)
        }
      }
      items = merged
    }

    mutating func withdraw(_ delivery: Int) {
      guard let index = items.firstIndex(where: { if case .awaited(_, delivery) = $0 { true } else { false } }) else {
        return
      }
      items.remove(at: index)
      guard index > 0, index < items.count, case .missed(let one) = items[index - 1],
        case .missed(let two) = items[index]
      else { return }
      items.replaceSubrange(index - 1...index, with: [.missed(one + two)])
    }
  }

  private func takeFirst(_ queue: inout EventQueue) -> Item? {
    if let gap = queue.takeGap() { return .missed(gap.count) }
    if queue.events.isEmpty { return nil }
    let isMarked = queue.nextMarked == queue.events.first
    var batch = RawEvents()
    queue.refill(&batch, as: Box.self)
    let event = batch.takeFirst(as: Box.self).number
    batch.free()
    let mark = isMarked ? queue.takeMark() : nil
    #expect(mark?.insideReport == Self.report(of: event), "each event keeps what it was posted with")
    guard let delivery = mark?.purpose.delivery else { return .event(event) }
    return .awaited(event, delivery: delivery.index)
  }

  /// Every third event is posted inside a handler of a report.
  private static func report(of event: Int) -> SelfReport? { event % 3 == 0 ? .failure : nil }

  private func released(_ dropped: RawEvents?) {
    guard var dropped else { return }
    dropped.removeAll(as: Box.self)
    dropped.free()
  }

  /// An element whose release can be counted.
  private final class Box: Sendable {
    let number: Int
    init(_ number: Int) { self.number = number }
  }

  @Test(arguments: [EventBus.Buffering.Dropping.oldest, .newest])
  func `Rule 14: keeps order, bound and marks, and tells each loss where it happened`(
    dropping: EventBus.Buffering.Dropping
  ) {
    let post = PostWait(now: { .zero })
    for seed in 0..<400 as Range<UInt64> {
      var random = SplitMix64(seed: seed)
      let limit = Int.random(in: 0...4, using: &random)
      var queue = EventQueue(.bounded(limit, dropping: dropping))
      var model = Model(limit: limit, dropsOldest: dropping == .oldest)
      weak var last: Box?
      for number in 0..<60 {
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<5:
          let box = Box(number)
          last = box
          queue.append(box, .posted, insideReport: Self.report(of: number))
          released(queue.takeDropped())
          model.append(number)
        case 5..<7:
          queue.append(
            Box(number), .awaited(AwaitedDelivery(wait: post, index: number)), insideReport: Self.report(of: number))
          model.items.append(.awaited(number, delivery: number))
        case 7:
          let delivery = Int.random(in: 0...number, using: &random)
          _ = queue.withdraw(AwaitedDelivery(wait: post, index: delivery), as: Box.self)
          model.withdraw(delivery)
        default:
          let expected = model.items.isEmpty ? nil : model.items.removeFirst()
          #expect(takeFirst(&queue) == expected, "seed \(seed), step \(number)")
        }
        #expect(queue.isEmpty == model.items.isEmpty, "seed \(seed), step \(number)")
      }
      while let item = takeFirst(&queue) {
        #expect(!model.items.isEmpty && item == model.items.removeFirst(), "seed \(seed), at the end")
      }
      #expect(model.items.isEmpty, "seed \(seed)")
      #expect(last == nil, "seed \(seed): everything was released")
      var (events, _) = queue.removeAll()
      events.free()
    }
  }

  @Test func `hands out whole batches, whose marks stay behind, and reuses their memory`() {
    var queue = EventQueue(.unbounded)
    var batch = RawEvents()
    var next = 0
    for round in 1...20 {
      for number in 0..<round { queue.append(round * 100 + number, .posted) }
      #expect(batch.isEmpty)
      queue.refill(&batch, as: Int.self)
      #expect(batch.first == next && batch.count == round)
      next = batch.end
      queue.append(round * 100 + round, .posted)
      for number in 0..<round { #expect(batch.takeFirst(as: Int.self) == round * 100 + number) }
      queue.refill(&batch, as: Int.self)
      #expect(batch.takeFirst(as: Int.self) == round * 100 + round)
      next += 1
    }
    batch.free()
    var (events, marks) = queue.removeAll()
    #expect(events.isEmpty && marks.isEmpty)
    events.free()
  }

  @Test func `Rule 17: deadlines pass in order, those that are cleared never, and cleared ones do not pile up`()
    async throws
  {
    try await withSimulation { clock in
      let deadlines = Deadlines(ClockHandle(clock), tasks: TaskStarter(clock: clock))
      let passed = Log<Int>()
      var random = SplitMix64(seed: 1)
      var ids: [Int: Deadlines.ID] = [:]
      for number in (0..<500).shuffled(using: &random) {
        ids[number] = deadlines.set(.milliseconds(number)) { passed.add(number) }
      }
      for number in 0..<500 where number % 3 != 0 { deadlines.clear(ids[number]!) }
      try await clock.run()
      #expect(passed.all == (0..<500).filter { $0 % 3 == 0 })
      #expect(clock.sleepers == 0)
    }
  }

  /// An event that no bound drops anyway needs no mark; in a sequence nothing would ever take it.
  @Test func `a queue without a bound marks no promised event`() {
    var queue = EventQueue(.unbounded)
    for number in 0..<100 { queue.append(Box(number), .promised) }
    #expect(queue.marks.isEmpty)
    var batch = RawEvents()
    queue.refill(&batch, as: Box.self)
    for number in 0..<100 { #expect(batch.takeFirst(as: Box.self).number == number) }
    batch.free()
    released(queue.removeAll().0)
    var bounded = EventQueue(.bounded(1, dropping: .oldest))
    for number in 0..<3 { bounded.append(Box(number), .promised) }
    #expect(bounded.marks.count == 3)
    for number in 0..<3 {
      bounded.refill(&batch, as: Box.self)
      #expect(batch.takeFirst(as: Box.self).number == number)
    }
    batch.free()
    released(bounded.removeAll().0)
  }
}
