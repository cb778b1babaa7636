import AppLifecycle
import PubSub
import Scheduling

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
    if mustServe { serveOnConnection() }
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
    if mustServe { serve(on: Self.connectionExecutor) }
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

  /// Starts a task that serves the inbox; it begins on the thread of a connection, where there is one that has nothing else to do.
  private func serveOnConnection() {
    #if MQTT
      let link = declarations.withLock { $0.links.first?.value.link }
      if let transport = link?.transport as? MQTTTransport {
        return transport.preferring { serve(on: Self.connectionExecutor) }
      }
    #endif
    serve()
  }

  /// Starts a task that serves the inbox until it is empty.
  private func serve(on executor: (any TaskExecutor)? = nil) {
    tasks.start(on: executor, seeing: shared) { [self] in
      var turn = Turn(isOnConnection: executor != nil && tasks.executor == nil)
      while let work = next() {
        turn.found = nil
        for (topic, count) in work.dropped.sorted(by: { $0.key < $1.key }) { didDrop(count, of: topic) }
        await perform(work.inputs[...], &turn)
        for post in work.posts {
          await turn.endIfLong()
          await send(post, &turn)
        }
      }
    }
  }

  /// What the task that serves keeps from one thing that it does to the next.
  private struct Turn {
    /// When the task goes on in the pool; nil if it is there.
    private var end: ContinuousClock.Instant?
    /// The link that was looked up last in the present work.
    ///
    /// It is retained slowly, as there are weak references to it.
    var found: (number: LinkMachine.LinkID, link: EventLink?)?

    init(isOnConnection: Bool) { end = isOnConnection ? .now + .milliseconds(1) : nil }

    /// Leaves the thread of a connection, if the task has used it for long.
    ///
    /// Otherwise, acknowledgements would wait, and a broker that keeps few messages for a client would lose the rest.
    /// So the task looks at the clock before each thing that may call handlers of an event.
    mutating func endIfLong() async {
      guard let end, .now >= end else { return }
      self.end = nil
      // A change of the executor is what surely leaves the thread. A `Task.yield()` does not: it goes on at once, on the
      // same thread, if another thread ends it before the task is suspended. Back from there, the task is one of the pool:
      // no thread of a connection is preferred then.
      await withTaskExecutorPreference(globalConcurrentExecutor) {}
    }
  }

  private static var connectionExecutor: (any TaskExecutor)? {
    #if MQTT
      ConnectionThreadExecutor.shared
    #else
      nil
    #endif
  }

  private struct Work {
    var inputs: [Input] = []
    var posts: [Post] = []
    var dropped: [LinkMachine.TopicID: Int] = [:]

    /// The most inputs, and the most posts: each visit to the inbox may make a poster or a transport wait.
    static let most = 32
  }

  /// Takes the next inputs and posts; nil, and the task ends, if there is nothing.
  private func next() -> Work? {
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

  /// Reports that a link, or each that carries the topic, has dropped posts.
  private func didDrop(_ count: Int, of topic: LinkMachine.TopicID, by lane: LinkMachine.LinkID? = nil) {
    let (name, carrying) = machine.withLock { machine in
      (machine.topics[topic].name, machine.links.filter { $0.value.progress[topic] != nil }.keys.sorted())
    }
    for lane in lane.map({ [$0] }) ?? carrying {
      report(of: lane) { EventLink.DidDrop(link: $0, topic: name, count: count) }
    }
  }

  private func send(_ post: Post, _ turn: inout Turn) async {
    let content = content(of: post)
    await decide(&turn) { $0.send(content, number: post.number, on: post.topic) }
  }

  private func content(of post: Post) -> OutgoingTopic.Content {
    do {
      let data = try post.encode()
      if data?.count ?? 0 > Post.longest { throw LinkFormatError("it has more than 1 MiB") }
      return data.map { .data($0) } ?? .removal
    } catch {
      let topic = machine.withLock { $0.topics[post.topic].name }
      bus.post(EventLink.DidReject(topic: topic, reason: "the event cannot be sent: \(error)"))
      return .lost
    }
  }

  private func perform(_ inputs: ArraySlice<Input>, _ turn: inout Turn) async {
    guard !inputs.isEmpty else { return }
    var rest = inputs
    while let input = rest.popFirst() {
      await turn.endIfLong()
      guard case .transport(.acknowledged(let first), let lane, let connection) = input else {
        await perform(input, &turn)
        continue
      }
      // Acknowledgements come in rows, one for each message.
      var numbers = [first]
      while case .transport(.acknowledged(let number), lane, connection)? = rest.first {
        numbers.append(number)
        rest.removeFirst()
      }
      await decide(&turn) { [numbers] in $0.didAcknowledge(numbers, by: lane) }
    }
    setTimer()
  }

  private func perform(_ input: Input, _ turn: inout Turn) async {
    let now = clock.now.offset
    switch input {
    case .connected(let link, let connection):
      guard link.isUp(connection) else { return }
      await decide(&turn) { $0.didConnect(link.number, connection, at: now) }
    case .finish(let link, let connection): await decide(&turn) { $0.finish(link.number, connection) }
    case .closed(let link, let connection): await decide(&turn) { $0.didDisconnect(link.number, connection, at: now) }
    case .time:
      timer.withLock { $0 = nil }
      await decide(&turn) { $0.timeDidPass(now) }
    case .transport(let event, let lane, let connection):
      guard let link = link(lane, &turn), link.isConnection(connection) else { return }
      switch event {
      case .received(let message):
        let receivers = receivers(of: message.payload, on: message.topic)
        let (isSticky, isReceived) = (receivers.contains(where: \.isSticky), !receivers.isEmpty)
        await decide(&turn) { $0.receive(message, isSticky: isSticky, isReceived: isReceived, by: lane, at: now) }
      case .acknowledged: break  // The caller takes them in rows.
      case .closed(let reason):
        await decide(&turn) { $0.didDisconnect(lane, connection, at: now) }
        await link.connectionDidEnd(connection, because: reason)
      }
    }
  }

  private func decide(_ turn: inout Turn, _ body: (inout LinkMachine) -> Void) async {
    await perform(
      machine.withLock { machine in
        body(&machine)
        return machine.takeOutputs()
      }, &turn)
  }

  private func perform(_ outputs: [LinkMachine.Output], _ turn: inout Turn) async {
    for output in outputs {
      await turn.endIfLong()
      switch output {
      case .send(let message, let number, let lane): link(lane, &turn)?.transport.publish(message, number: number)
      case .post(let topic, let payload): await post(payload, from: topic)
      case .removeLatest(let topic, let type):
        let receivers = receivers(of: topic)
        let named = receivers.filter { $0.name == type }
        for receiver in named.isEmpty ? receivers : named { await receiver.removeLatest(bus, topic) }
      case .missed(let topic, let origin, let count):
        bus.post(EventLink.DidMiss(topic: topic, origin: origin, count: count))
      case .dropped(let topic, let count, let lane): didDrop(count, of: topic, by: lane)
      case .acknowledged(let topic, let number, let lane):
        guard bus.hasSubscribers(EventLink.DidAcknowledge.self) else { break }
        let name = machine.withLock { $0.topics[topic].name }
        report(of: lane) { EventLink.DidAcknowledge(link: $0, topic: name, number: number) }
      case .rejected(let topic, let reason): bus.post(EventLink.DidReject(topic: topic, reason: reason))
      case .idle(let lane, let connection): link(lane)?.hasSentAll(on: connection)
      }
    }
  }

  private func post(_ payload: [UInt8], from topic: String) async {
    for receiver in receivers(of: payload, on: topic) {
      do throws(LinkFormatError) { try await receiver.post(bus, payload, topic) } catch {
        bus.post(EventLink.DidReject(topic: topic, reason: error.description))
      }
    }
  }

  private func link(_ lane: LinkMachine.LinkID) -> EventLink? { declarations.withLock { $0.links[lane]?.link } }

  private func link(_ lane: LinkMachine.LinkID, _ turn: inout Turn) -> EventLink? {
    if let found = turn.found, found.number == lane { return found.link }
    let link = link(lane)
    turn.found = (lane, link)
    return link
  }

  private func report<E: BusEvent>(of lane: LinkMachine.LinkID, _ event: (EventLink) -> E) {
    if let link = link(lane) { bus.post(event(link), from: link) }
  }

  /// Sets the timer to the time at which the machine gives up what is missing.
  private func setTimer() {
    let deadline = machine.withLock { $0.deadline }
    let clock = clock
    timer.withLock { timer in
      guard timer?.at != deadline else { return }
      timer?.task.cancel()
      timer = deadline.map { deadline in
        let task = tasks.start(seeing: shared) { [weak self] in
          guard (try? await clock.sleep(until: .init(offset: deadline))) != nil else { return }
          self?.take(.time)
        }
        return (deadline, task)
      }
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
