import PubSub
import Scheduling
internal import Synchronization

/// What one subscription was delivered, and what it should have been; captured by its handler.
///
/// Every post that began after the subscribing had returned and that was over before the cancelling began must have come,
/// once and in order; none may have come that began after the cancelling had returned. It judges when it is released, which
/// must not be before the last delivery is over.
final class Witness: @unchecked Sendable {
  /// How its handler is called, and so what it may rely on.
  enum Kind: Sendable {
    case synchronous
    case mailbox
    /// What it loses, it is told.
    case bounded
    case sequence
  }

  /// What a synchronous handler does besides.
  enum Deed: CaseIterable, Sendable {
    case nothing, echo, dive, subscribe, cancelAnother, cancelItself
  }

  /// What one poster's posts of one kind looked like from here.
  private struct Lane {
    var first = 0
    var last = 0
    var count = 0
    /// The first that was missing between two others.
    var gap = 0
    /// The poster's own thread has cancelled: not even the rest of a post under way may come.
    var isShut = false
  }

  private struct Ending {
    var hasBegun = false
    var hasEnded = false
    /// What must have come.
    var through: [[Int]] = []
    /// What no handler may see.
    var after: [[Int]] = []
    weak var subscription: EventBus.Subscription?
  }

  /// What reports call it.
  let name: String
  let kind: Kind
  let deed: Deed
  let subject: Int
  private let context: StressContext
  private let channels: Range<Int>
  private let ledgers: [Ledger]
  private let replays: Bool
  private let lanes: UnsafeMutablePointer<Lane>
  private let laneCount: Int
  // Set by the subscribing thread, before and after.
  private let before: [[Int]]
  private var from: [[Int]] = []
  private let ending = Guarded(Ending())
  private let isDrained = Atomic(false)
  private let isFlushed = Atomic(false)
  private let isDead = Atomic(false)
  // The handler's own; synchronous ones run on several threads at once.
  private let deliveries = Atomic(0)
  private var missed = 0

  init(
    _ context: StressContext, _ name: String, _ kind: Kind, channels: Range<Int>, subject: Subject? = nil,
    deed: Deed = .nothing,
    replays: Bool = false
  ) {
    self.context = context
    self.name = name
    self.kind = kind
    self.deed = deed
    self.channels = channels
    self.replays = replays
    self.subject = subject?.identity ?? 0
    ledgers = subject.map { [$0.ledger] } ?? channels.map { context.ledgers[$0] }
    laneCount = ledgers.count * context.posters
    lanes = .allocate(capacity: laneCount)
    lanes.initialize(repeating: Lane(), count: laneCount)
    before = ledgers.map(\.ended)
    context.add(living: 1)
  }

  deinit {
    isDead.store(true, ordering: .sequentiallyConsistent)
    judge()
    lanes.deinitialize(count: laneCount)
    lanes.deallocate()
    context.add(living: -1)
  }
}

// MARK: - Told by the thread that subscribes and cancels

extension Witness {
  func didSubscribe(_ subscription: EventBus.Subscription?) {
    from = ledgers.map { $0.begun() }
    ending.withLock { $0.subscription = subscription }
  }

  /// The subscription, unless it is gone; for a handler that cancels it.
  var subscription: EventBus.Subscription? { ending.withLock { $0.subscription } }

  func willCancel() {
    let ended = ledgers.map(\.ended)
    ending.withLock { ending in
      if !ending.hasBegun { (ending.hasBegun, ending.through) = (true, ended) }
    }
  }

  /// `poster` is the one whose thread cancelled, if it was a poster's.
  func didCancel(by poster: Poster? = nil) {
    let begun = ledgers.map { $0.begun() }
    ending.withLock { ending in
      if !ending.hasEnded { (ending.hasEnded, ending.after) = (true, begun) }
    }
    guard kind == .synchronous, let poster else { return }
    for source in ledgers.indices { lanes[source * context.posters + poster.index].isShut = true }
  }

  func didDrain() { isDrained.store(true, ordering: .releasing) }

  /// All that was in its mailbox has been handled, and no thread posts.
  func didFlush() { isFlushed.store(true, ordering: .releasing) }
}

// MARK: - Told by the handler

extension Witness {
  func receive(_ stamp: Stamp) {
    check()
    if stamp.poster.context !== context {
      // The bus outlives the rounds, and so does the latest event.
      if !replays || deliveries.load(ordering: .relaxed) > 0 {
        context.fail("\(name): delivered a post of another round")
      }
      deliveries.add(1, ordering: .relaxed)
      return
    }
    guard subject != 0 || channels.contains(stamp.channel) else {
      return context.fail("an event of another type was delivered")
    }
    guard subject == 0 || subject == stamp.subject else {
      return context.fail("an event from another subject was delivered")
    }
    let source = subject == 0 ? stamp.channel - channels.lowerBound : 0
    let number = subject == 0 ? stamp.number : stamp.subjectNumber
    let lane = lanes + source * context.posters + stamp.poster.index
    if lane.pointee.isShut { context.fail("delivered after this very thread had cancelled") }
    if lane.pointee.count == 0 {
      let isReplay = replays && deliveries.load(ordering: .relaxed) == 0
      lane.pointee.first = number
      if !isReplay, number <= before[source][stamp.poster.index] {
        context.fail("delivered a post that was over before the subscribing began")
      }
    } else if number <= lane.pointee.last {
      context.fail("\(name): doubled or out of order, \(number) after \(lane.pointee.last)")
    } else if kind != .bounded, number != lane.pointee.last + 1, lane.pointee.gap == 0 {
      lane.pointee.gap = lane.pointee.last + 1
    }
    lane.pointee.last = number
    lane.pointee.count += 1
    deliveries.add(1, ordering: .relaxed)
  }

  func miss(_ count: Int) {
    check()
    missed += count
  }

  /// Called when the handler begins and when it is about to return.
  func check() {
    if isDead.load(ordering: .relaxed) { context.fail("delivered to what had been released") }
    if isDrained.load(ordering: .acquiring) { context.fail("\(name): ran after it had been drained") }
  }
}

// MARK: - The judgement

extension Witness {
  private func judge() {
    let received = deliveries.load(ordering: .relaxed)
    context.count(deliveries: received)
    let ending = ending.withLock { $0 }
    // Never subscribed, or the owner's release has just ended it.
    guard from.count == ledgers.count else { return }
    let isFlushed = isFlushed.load(ordering: .acquiring)
    let isComplete = kind == .synchronous || isFlushed
    var (least, most) = (0, 0)
    for (source, ledger) in ledgers.enumerated() {
      let through = ending.hasBegun ? ending.through[source] : ledger.ended
      let after = ending.hasEnded ? ending.after[source] : ledger.begun()
      for poster in 0..<context.posters {
        let lane = lanes[source * context.posters + poster]
        least += max(0, through[poster] - from[source][poster])
        most += after[poster] - before[source][poster]
        if lane.count > 0, lane.last > after[poster] {
          context.fail("\(name): delivered \(lane.last); the cancelling returned before \(after[poster] + 1) began")
        }
        guard kind != .bounded else { continue }
        // What is missing may have come while the cancelling was under way, which has no one instant for all ways of posting.
        if lane.gap > 0, lane.gap <= through[poster] {
          context.fail("\(name): lost \(lane.gap)")
        }
        let first = from[source][poster] + 1
        if lane.count > 0, lane.first > first, first <= through[poster] {
          context.fail("\(name): lost the first: \(lane.first) instead of \(first)")
        }
        if isComplete, through[poster] > from[source][poster], lane.last < through[poster] {
          context.fail("\(name): lost the last: \(lane.last) instead of \(through[poster])")
        }
      }
    }
    if kind == .bounded, isFlushed, !(least...most + (replays ? 1 : 0)).contains(received + missed) {
      context.fail("bounded: \(received) delivered and \(missed) missed of \(least) to \(most)")
    }
    if kind != .bounded, replays, isFlushed, received == 0, before[0].contains(where: { $0 > 0 }) {
      context.fail("\(name): the latest event was not replayed")
    }
  }
}
