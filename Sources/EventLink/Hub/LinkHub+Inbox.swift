import AppLifecycle
import PubSub
import Scheduling

// What waits for the hub: events of this process, and what happens to links.

extension LinkHub {
  /// The most posts that wait to be encoded, and the most bytes of messages that wait to be posted.
  private static let (mostPosts, mostBytes) = (10_000, 64 << 20)

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
      inbox.numbers[topic].event += 1
      inbox.posts.append(Post(topic: topic, number: inbox.numbers[topic].event, encode: encode))
      if inbox.posts.count > Self.mostPosts { lost = inbox.dropOldest() }
      defer { inbox.isServed = true }
      return (!inbox.isServed, lost)
    }
    // What an event holds may post as it is released, so that is not under the lock.
    withExtendedLifetime(lost) {}
    if mustServe { serve(preferring: declarations.withLock { $0.links.first?.value.link }?.transport) }
  }

  /// The number of events for which a link owes something, those of sticky types aside.
  func waitingCount(of link: LinkMachine.LinkID) -> Int {
    // Those that the machine has not got yet are in the inbox, or being encoded.
    let (numbers, dropped) = inbox.withLock { ($0.numbers, $0.dropped) }
    return machine.withLock { machine in
      (machine.links[link]?.progress.keys.filter { !machine.topics[$0].isSticky } ?? []).reduce(
        machine.waiting(on: link)
      ) {
        $0 + max(numbers[$1].event - machine.topics[$1].last - dropped[$1, default: 0], 0)
      }
    }
  }

  /// Takes what happened to a link; any thread may call it.
  func take(_ input: Input) {
    let mustServe: Bool? = inbox.withLock { inbox in
      guard inbox.bytes + input.bytes <= Self.mostBytes else { return nil }
      inbox.bytes += input.bytes
      inbox.inputs.append((input, inbox.settledPosts + inbox.posts.count))
      defer { inbox.isServed = true }
      return !inbox.isServed
    }
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

  /// Takes the next inputs and posts; nil, and the serving ends, if there is nothing.
  func next() -> Work? {
    inbox.withLock { inbox in
      var work = Work()
      while work.inputs.count < Work.most, let first = inbox.inputs.first,
        !first.input.isEnd || first.posts <= inbox.settledPosts
      {
        inbox.inputs.popFirst()
        inbox.bytes -= first.input.bytes
        work.inputs.append(first.input)
      }
      while work.posts.count < Work.most, let post = inbox.posts.popFirst() { work.posts.append(post) }
      inbox.settledPosts += work.posts.count
      swap(&work.dropped, &inbox.dropped)
      inbox.isServed = !(work.inputs.isEmpty && work.posts.isEmpty && work.dropped.isEmpty)
      return inbox.isServed ? work : nil
    }
  }
}

extension LinkHub.Input {
  /// The bytes of a message.
  fileprivate var bytes: Int {
    guard case .transport(.received(let message), _, _) = self else { return 0 }
    return message.payload.count + message.topic.utf8.count + 64
  }
}
