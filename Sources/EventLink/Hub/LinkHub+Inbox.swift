import AppLifecycle
import PubSub
import Scheduling

// What waits for the hub: events of this process, and what happens to links.

extension LinkHub {
  struct Inbox {
    /// The topic of each post that waits, in order; the posts of a topic are in `numbers`.
    private var order = Fifo<LinkMachine.TopicID>()
    /// Each input with the number of posts that came before it, which matters to the end of a link.
    private(set) var inputs = Fifo<(input: Input, posts: Int)>()
    /// The number of posts that have been taken out.
    private(set) var settledPosts = 0
    /// The bytes of the messages in `inputs`, of each link that has some.
    private var bytes: [LinkMachine.LinkID: Int] = [:]
    /// What waits of each topic, and its numbers.
    var numbers: [Numbers] = []
    /// How many posts of each topic were dropped, because they came faster than they were encoded.
    private(set) var dropped: [LinkMachine.TopicID: Int] = [:]
    private(set) var isServed = false

    /// As many posts of a topic may wait at least: a link that keeps few events while it is down sends a row of posts while it is up.
    static let leastOfTopic = 10_000

    struct Numbers {
      /// The number of the latest event.
      var event = 0
      /// That of the change of the bus's latest event; 0 for a type that is not sticky.
      var change = 0
      let isSticky: Bool
      /// The most posts that wait to be encoded; one or more.
      let most: Int
      fileprivate var posts = Fifo<Post>()

      init(isSticky: Bool, most: Int) { (self.isSticky, self.most) = (isSticky, most) }
    }

    /// Adds a post; returns the oldest one of the topic if that is dropped, for release after the lock.
    mutating func append(on topic: LinkMachine.TopicID, encode: @escaping @Sendable () throws -> [UInt8]?) -> Post? {
      numbers[topic].event += 1
      numbers[topic].posts.append(Post(topic: topic, number: numbers[topic].event, encode: encode))
      guard numbers[topic].posts.count > numbers[topic].most else {
        order.append(topic)
        return nil
      }
      // The next one of the topic takes its place, so nothing that came before an input comes after it.
      // A sticky event that a later one has replaced does not count.
      if !numbers[topic].isSticky { dropped[topic, default: 0] += 1 }
      return numbers[topic].posts.popFirst()
    }

    /// Adds an input; returns false if too many bytes of messages of its link wait to be posted.
    mutating func append(_ input: Input) -> Bool {
      guard count(input, by: 1) else { return false }
      inputs.append((input, settledPosts + order.count))
      return true
    }

    /// Adds the bytes of a message to those of its link, or takes them away; returns false, and adds nothing, if they are too many.
    private mutating func count(_ input: Input, by sign: Int) -> Bool {
      guard case .transport(.received(let message), let link, _) = input else { return true }
      let size = message.payload.count + message.topic.utf8.count + 64
      let sum = bytes[link, default: 0] + sign * size
      if sum <= 64 << 20 { bytes[link] = sum == 0 ? nil : sum }
      return sum <= 64 << 20
    }

    /// Returns whether the caller must have the inbox served, which it is from now on.
    mutating func mustServe() -> Bool {
      defer { isServed = true }
      return !isServed
    }

    /// Takes the next inputs and posts; nil, and the serving ends, if there is nothing.
    mutating func next() -> Work? {
      var work = Work()
      while work.inputs.count < Work.most, let first = inputs.first, !first.input.isEnd || first.posts <= settledPosts {
        inputs.popFirst()
        _ = count(first.input, by: -1)
        work.inputs.append(first.input)
      }
      while work.posts.count < Work.most, let topic = order.popFirst(), let post = numbers[topic].posts.popFirst() {
        work.posts.append(post)
      }
      settledPosts += work.posts.count
      swap(&work.dropped, &dropped)
      isServed = !(work.inputs.isEmpty && work.posts.isEmpty && work.dropped.isEmpty)
      return isServed ? work : nil
    }
  }

  /// Takes an event of this process, on the poster's thread.
  ///
  /// - Parameters:
  ///   - topic: the topic on which it is sent.
  ///   - change: the number of the change of the bus's latest event; nil for a type that is not sticky. Threads that post at the
  ///     same time come here in any order; what has been replaced meanwhile is not sent, or the broker would keep it.
  ///   - encode: makes the event's data.
  func post(
    on topic: LinkMachine.TopicID, change: Int? = nil, encode: @escaping @Sendable () throws -> [UInt8]?
  ) {
    let (mustServe, lost) = inbox.withLock { inbox in
      var lost: Post?
      if let change {
        guard change > inbox.numbers[topic].change else { return (false, lost) }
        inbox.numbers[topic].change = change
      }
      lost = inbox.append(on: topic, encode: encode)
      return (inbox.mustServe(), lost)
    }
    // What an event holds may post as it is released, so that is not under the lock.
    withExtendedLifetime(lost) {}
    if mustServe { serve(preferring: declarations.withLock { $0.links.first?.value.link }?.transport) }
  }

  /// The number of events for which a link owes something, those of sticky types aside.
  func waitingCount(of link: LinkMachine.LinkID) -> Int {
    // Those that the machine has not got yet are in the inbox, or being encoded.
    let (numbers, dropped) = inbox.withLock { ($0.numbers.map(\.event), $0.dropped) }
    return machine.withLock { machine in
      (machine.links[link]?.progress.keys.filter { !machine.topics[$0].isSticky } ?? []).reduce(
        machine.waiting(on: link)
      ) {
        $0 + max(numbers[$1] - machine.topics[$1].last - dropped[$1, default: 0], 0)
      }
    }
  }

  /// Takes what happened to a link; any thread may call it.
  func take(_ input: Input) {
    let mustServe: Bool? = inbox.withLock { $0.append(input) ? $0.mustServe() : nil }
    guard let mustServe else { return endConnection(of: input) }
    if mustServe { serve() }
  }

  /// Ends a connection whose messages come faster than they are posted; the next one asks for what is missing.
  private func endConnection(of input: Input) {
    guard case .transport(_, let lane, let connection) = input, let link = link(lane), link.mayOverflow(connection)
    else { return }
    tasks.start(seeing: shared) { [self] in
      // The link may have been closed and opened again before the task began.
      guard link.isUp(connection) else { return }
      // An end in order has no will, and if the process dies before it has connected again, nothing else says so.
      if let will = link.herald?.presentWill { link.transport.publish(will, number: .max) }
      stopSending(by: lane, connection)
      await link.transport.disconnect()
      take(.transport(.closed(reason: EventLink.overflow), lane, connection: connection))
    }
  }

  struct Work {
    var inputs: [Input] = []
    var posts: [Post] = []
    var dropped: [LinkMachine.TopicID: Int] = [:]

    /// The most inputs, and the most posts: each visit to the inbox may make a poster or a transport wait.
    static let most = 32
  }

  func next() -> Work? { inbox.withLock { $0.next() } }
}
