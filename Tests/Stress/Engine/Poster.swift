import PubSub
import Scheduling

/// Posts, subscribes and cancels at random: one thread or one task at a time, and what runs inside its posts.
final class Poster: @unchecked Sendable {
  let index: Int
  let context: StressContext
  private var random: SplitMix64
  private var plain: EventBus.Topic<Plain>?
  private(set) var posts = 0
  private(set) var cancels = 0

  init(_ index: Int, _ context: StressContext, seed: UInt64) {
    self.index = index
    self.context = context
    random = SplitMix64(seed: seed)
    plain = context.bus.topic(Plain.self)
  }

  /// Lets go of the bus: the latest event that it keeps names the poster.
  func finish() { plain = nil }

  func draw() -> UInt64 { random.next() }
  func draw(_ count: Int) -> Int { Int(random.next() % UInt64(count)) }
}

// MARK: - Posting

extension Poster {
  private func stamped(_ channel: Int, _ subject: Subject? = nil, _ body: (Stamp) -> Void) {
    let stamp = begin(channel, subject)
    body(stamp)
    end(stamp, subject)
  }

  private func begin(_ channel: Int, _ subject: Subject?) -> Stamp {
    posts += 1
    return Stamp(
      poster: self, channel: channel, number: context.ledgers[channel].begin(index), subject: subject?.identity ?? 0,
      subjectNumber: subject?.ledger.begin(index) ?? 0)
  }

  private func end(_ stamp: Stamp, _ subject: Subject?) {
    subject?.ledger.end(index)
    context.ledgers[stamp.channel].end(index)
  }

  func post() {
    switch draw(8) {
    case 0: stamped(Channel.mirrored) { context.bus.post(Mirrored(stamp: $0)) }
    case 1: stamped(Channel.kept) { context.bus.post(Kept(stamp: $0)) }
    case 2: stamped(Channel.plain) { plain?.post(Plain(stamp: $0)) }
    case 3, 4:
      let subject = context.subject(draw())
      stamped(Channel.plain, subject) { context.bus.post(Plain(stamp: $0), from: subject) }
    default: stamped(Channel.plain) { context.bus.post(Plain(stamp: $0)) }
    }
  }

  func postAndWait<E: StampedEvent>(_ type: E.Type, _ channel: Int, from subject: Subject? = nil) async {
    let stamp = begin(channel, subject)
    await context.bus.postAndWait(E(stamp: stamp), from: subject)
    end(stamp, subject)
  }

  /// Posts to itself until it is so deep; the handler of `Deep` goes on.
  func dive(to level: Int = 0) { stamped(Channel.deep + level) { context.bus.post(Deep(stamp: $0)) } }

  private func echo() { stamped(Channel.echo) { context.bus.post(Echo(stamp: $0)) } }
}

// MARK: - Subscribing

extension Poster {
  func subscribe() {
    let isRare = draw(6) == 0
    let deed = draw(10) == 0 ? Witness.Deed.allCases[draw(Witness.Deed.allCases.count)] : .nothing
    switch draw(16) {
    case 0...4: synchronous(Plain.self, Channel.plain, subject: isRare ? nil : maybeSubject(), deed)
    case 5: synchronous(Mirrored.self, Channel.mirrored, subject: nil, deed)
    case 6: synchronous(Kept.self, Channel.kept, subject: nil, deed)
    case 7: synchronous(Echo.self, Channel.echo, subject: nil, .nothing)
    case 8: deep()
    case 9: throwing()
    case 10, 11: owner()
    case 12: wildcard()
    case 13: mailbox()
    case 14: bounded()
    default: replaying()
    }
  }

  private func maybeSubject() -> Subject? { draw(3) == 0 ? context.subject(draw()) : nil }

  private var priority: EventBus.Priority { [.normal, .normal, .normal, .normal, .high, .low][draw(6)] }

  private func keep(_ subscription: EventBus.Subscription, _ witness: Witness) {
    witness.didSubscribe(subscription)
    context.pool.add(.init(subscription: subscription, witness: witness), draw())
  }

  private func synchronous<E: StampedEvent>(_ type: E.Type, _ channel: Int, subject: Subject?, _ deed: Witness.Deed) {
    let witness = Witness(
      context, "synchronous", .synchronous, channels: channel..<channel + 1, subject: subject, deed: deed)
    keep(
      context.bus.subscribe(to: E.self, from: subject, priority: priority) { event in
        witness.receive(event.stamp)
        event.stamp.poster.perform(witness, event.stamp)
        witness.check()
      }, witness)
  }

  private func deep() {
    let witness = Witness(context, "deep", .synchronous, channels: Channel.deep..<Channel.deep + Channel.levels)
    keep(
      context.bus.subscribe(to: Deep.self, priority: priority) { event in
        witness.receive(event.stamp)
        witness.check()
      }, witness)
  }

  private struct Thrown: Error {}

  private func throwing() {
    let witness = Witness(context, "throwing", .synchronous, channels: Channel.plain..<Channel.plain + 1)
    keep(
      context.bus.subscribe(to: Plain.self, priority: priority) { (event: Plain) throws -> Void in
        witness.receive(event.stamp)
        if event.stamp.number % 16 == 0 { throw Thrown() }
      }, witness)
  }

  private func owner() {
    let subject = maybeSubject()
    let witness = Witness(context, "owner", .synchronous, channels: Channel.plain..<Channel.plain + 1, subject: subject)
    context.bus.subscribe(to: Plain.self, for: witness, from: subject, priority: priority) { witness, event in
      witness.receive(event.stamp)
      witness.check()
    }
    witness.didSubscribe(nil)
    context.pool.add(.init(subscription: nil, witness: witness), draw())
  }

  private func wildcard() {
    let isNamed = draw(2) == 0
    let witness = Witness(
      context, "wildcard", .synchronous, channels: isNamed ? Channel.plain..<Channel.plain + 1 : 0..<Channel.count)
    let handler: @Sendable (any EventBus.Event) throws -> Void = { event in
      guard let event = event as? any StampedEvent else { return }
      witness.receive(event.stamp)
      witness.check()
    }
    keep(
      context.bus.subscribeToAll(named: isNamed ? Plain.name : nil, priority: priority, handler), witness)
  }

  private func mailbox() {
    let subject = maybeSubject()
    let witness = Witness(context, "mailbox", .mailbox, channels: Channel.plain..<Channel.plain + 1, subject: subject)
    keep(
      context.bus.receive(Plain.self, from: subject, priority: priority) { (event: Plain) async in
        witness.receive(event.stamp)
        if event.stamp.number % 32 == 0 { await Task.yield() }
        witness.check()
      }, witness)
  }

  private func bounded() {
    let witness = Witness(context, "bounded", .bounded, channels: Channel.plain..<Channel.plain + 1)
    let dropping: EventBus.Buffering.Dropping = draw(2) == 0 ? .oldest : .newest
    keep(
      context.bus.receive(Plain.self, priority: priority, buffering: .bounded(4, dropping: dropping)) { event in
        witness.receive(event.stamp)
        await Task.yield()
        witness.check()
      } missed: { count in
        witness.miss(count)
        await Task.yield()
        witness.check()
      }, witness)
  }

  private func replaying() {
    let witness = Witness(context, "replaying", .mailbox, channels: Channel.kept..<Channel.kept + 1, replays: true)
    keep(
      context.bus.receive(Kept.self, priority: priority, replay: .latest) { (event: Kept) async in
        witness.receive(event.stamp)
        witness.check()
      }, witness)
  }
}

// MARK: - Inside handlers

extension Poster {
  /// What a synchronous handler does besides; called on the poster's own thread.
  private func perform(_ witness: Witness, _ stamp: Stamp) {
    guard witness.deed != .nothing, stamp.number % 8 == 0, context.isWorking else { return }
    switch witness.deed {
    case .nothing: break
    case .echo: echo()
    case .dive: dive()
    case .subscribe: if !context.pool.isFull(draw()) { subscribe() }
    case .cancelAnother: cancelAnother()
    case .cancelItself:
      // Another thread may do the same at this moment.
      guard let subscription = witness.subscription else { break }
      witness.willCancel()
      subscription.cancel()
      witness.didCancel(by: self)
    }
  }
}

// MARK: - Cancelling

extension Poster {
  func cancelAnother() {
    guard var held = context.pool.take(draw()) else { return }
    cancels += 1
    held.witness.willCancel()
    guard held.subscription != nil else { return }
    // A release cancels only if no other code keeps the subscription: a handler may be cancelling itself.
    if draw(2) == 0, isKnownUniquelyReferenced(&held.subscription) {
      held.subscription = nil
    } else {
      held.subscription?.cancel()
    }
    held.witness.didCancel(by: self)
  }

  func drainAnother() async {
    guard let held = context.pool.take(draw()) else { return }
    cancels += 1
    held.witness.willCancel()
    guard let subscription = held.subscription else { return }
    await subscription.cancelAndDrain()
    held.witness.didCancel(by: self)
    held.witness.didDrain()
  }

  /// Iterates over a sequence for as long as it takes for three posts of its own to come out of it.
  func iterate() async {
    let witness = Witness(context, "iterate", .sequence, channels: Channel.plain..<Channel.plain + 1)
    let sequence = context.bus.events(Plain.self)
    witness.didSubscribe(nil)
    for _ in 0..<3 { stamped(Channel.plain) { context.bus.post(Plain(stamp: $0)) } }
    var own = 0
    for await event in sequence {
      witness.receive(event.stamp)
      if event.stamp.poster === self { own += 1 }
      if own == 3 { break }
    }
    if own < 3 { context.fail("sequence: ended before its bus") }
  }
}
