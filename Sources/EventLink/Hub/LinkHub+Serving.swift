import AppLifecycle
import PubSub
import Scheduling

// What the hub does with what waits: it asks the machine, and performs its outputs.

extension LinkHub {
  /// What was taken out of the inbox and is not done yet, in order.
  private struct Agenda {
    var outputs: ArraySlice<LinkMachine.Output> = []
    /// What follows the outputs.
    var next: Step?
    var inputs: ArraySlice<Input> = []
    var mustSetTimer = false
    var posts: ArraySlice<Post> = []
    /// The posts that have been encoded, which are sent as one row.
    var row: [(post: Post, content: OutgoingTopic.Content)] = []
    /// The time from which the row is sent before the next post is encoded; nil while it is empty.
    var endOfRow: ApplicationClock.Instant?
    /// The link that was looked up last.
    var found: (number: LinkMachine.LinkID, link: EventLink?)?
    /// The receivers that were looked up last.
    var receivers: (topic: String, all: [Receiver])?
  }

  /// Serves the inbox until it is empty: on the thread of a connection if it has nothing else to do, else in a task.
  ///
  /// - Parameter transport: the transport whose connection is asked; nil for the one that reads on this thread.
  func serve(preferring transport: (any LinkTransport)? = nil) {
    #if MQTT
      // In a simulation, the executor decides the order.
      if tasks.executor == nil {
        let job = ConnectionJob { [self] isOnThread in
          if isOnThread { serveOnThread() } else { serve(Agenda(), after: nil) }
        }
        if job.start(preferring: (transport as? MQTTTransport)?.present) { return }
      }
    #endif
    serve(Agenda(), after: nil)
  }

  /// Serves the inbox on the thread of a connection; a task goes on after the first step, or a millisecond.
  ///
  /// Otherwise acknowledgements would wait, and a broker that keeps few messages for a client would lose the rest.
  private func serveOnThread() {
    var agenda = Agenda()
    let end = ContinuousClock.now + .milliseconds(1)
    if let step = SharedObject.$current.withValue(shared, operation: { advance(&agenda, until: end) }) {
      serve(agenda, after: step)
    }
  }

  private func serve(_ agenda: Agenda, after step: Step?) {
    // Moved: what a closure captures lasts as long as the task, which may be long.
    let moved = Guarded<(agenda: Agenda, step: Step?)?>((agenda, step))
    tasks.start(seeing: shared) { [self] in
      guard var (agenda, step) = moved.withLock({ $0.take() }) else { return }
      await step?()
      step = nil
      while let step = advance(&agenda) { await step() }
    }
  }

  /// Serves until something must be awaited, which is returned, or the inbox is empty.
  ///
  /// From `end` on, what has been encoded is still sent, and then an empty step is returned.
  private func advance(_ agenda: inout Agenda, until end: ContinuousClock.Instant? = nil) -> Step? {
    var isLate: Bool { end.map { .now >= $0 } ?? false }
    while true {
      if let output = agenda.outputs.popFirst() {
        if case .send(let message, let number, let lane) = output {
          send(message, number, by: lane, &agenda)
          continue
        }
        if let step = perform(output, &agenda) { return step }
        if isLate { return {} }
      } else if let step = agenda.next.take() {
        return step
      } else if !agenda.inputs.isEmpty, !isLate {
        perform(agenda.inputs.removeFirst(), &agenda)
      } else if let post = agenda.posts.first, !isLate, agenda.endOfRow.map({ clock.now < $0 }) ?? true {
        // A slow coder must not keep back what it has encoded.
        agenda.endOfRow = agenda.endOfRow ?? clock.now.advanced(by: .microseconds(200))
        agenda.posts.removeFirst()
        agenda.row.append((post, content(of: post)))
      } else if !agenda.row.isEmpty {
        var row: [(post: Post, content: OutgoingTopic.Content)] = []
        swap(&row, &agenda.row)
        agenda.endOfRow = nil
        decide(&agenda) { machine in
          for (post, content) in row { machine.send(content, number: post.number, on: post.topic) }
        }
      } else if !agenda.inputs.isEmpty || !agenda.posts.isEmpty {
        return {}
      } else {
        if agenda.mustSetTimer { setTimer() }
        guard let work = next() else { return nil }
        (agenda.inputs, agenda.posts, agenda.mustSetTimer) = (work.inputs[...], work.posts[...], false)
        (agenda.found, agenda.receivers) = (nil, nil)
        if work.dropped.isEmpty { continue }
        willCallHandlers()
        for (topic, count) in work.dropped.sorted(by: { $0.key < $1.key }) { didDrop(count, of: topic) }
      }
    }
  }

  private func willCallHandlers() {
    #if MQTT
      ConnectionJob.enterProgram()
    #endif
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

  /// Gives a message to a transport; those of a row leave together.
  private func send(_ message: LinkMessage, _ number: UInt64, by lane: LinkMachine.LinkID, _ agenda: inout Agenda) {
    let transport = link(lane, &agenda)?.transport
    transport?.publish(message, number: number)
    if case .send(_, _, lane)? = agenda.outputs.first { return }
    transport?.flush()
  }

  private func content(of post: Post) -> OutgoingTopic.Content {
    do {
      let data = try post.encode()
      if data?.count ?? 0 > Post.longest { throw LinkFormatError("it has more than 1 MiB") }
      return data.map { .data($0) } ?? .removal
    } catch {
      willCallHandlers()
      let topic = machine.withLock { $0.topics[post.topic].name }
      bus.post(EventLink.DidReject(topic: topic, reason: "the event cannot be sent: \(error)"))
      return .lost
    }
  }

  private func perform(_ input: Input, _ agenda: inout Agenda) {
    let now = clock.now.offset
    switch input {
    case .connected(let link, let connection):
      guard link.isUp(connection) else { return }
      decide(&agenda) { $0.didConnect(link.number, connection, at: now) }
    case .finish(let link, let connection): decide(&agenda) { $0.finish(link.number, connection) }
    case .closed(let link, let connection): decide(&agenda) { $0.didDisconnect(link.number, connection, at: now) }
    case .removed(let lane): decide(&agenda) { $0.removeLink(lane, at: now) }
    case .time:
      timer.withLock { $0 = nil }
      decide(&agenda) { $0.timeDidPass(now) }
      agenda.mustSetTimer = true
    case .transport(.acknowledged(let number), let lane, let connection):
      // Acknowledgements come in rows, one for each message.
      var numbers = [number]
      while case .transport(.acknowledged(let number), lane, connection)? = agenda.inputs.first {
        numbers.append(number)
        agenda.inputs.removeFirst()
      }
      // Also of a connection that has ended: the broker has them.
      decide(&agenda) { $0.didAcknowledge(numbers, by: lane) }
    case .transport(.received(let message), let lane, let connection):
      guard link(lane, &agenda)?.isConnection(connection) == true else { return }
      let receivers = receivers(of: message.payload, on: message.topic, &agenda)
      let (isSticky, isReceived) = (receivers.contains(where: \.isSticky), !receivers.isEmpty)
      decide(&agenda) { $0.receive(message, isSticky: isSticky, isReceived: isReceived, by: lane, at: now) }
    case .transport(.closed(let reason), let lane, let connection):
      guard let link = link(lane, &agenda), link.isConnection(connection) else { return }
      decide(&agenda) { $0.didDisconnect(lane, connection, at: now) }
      agenda.next = { await link.connectionDidEnd(connection, because: reason) }
    }
  }

  /// Changes the machine, and notes what it wants.
  private func decide(_ agenda: inout Agenda, _ body: (inout LinkMachine) -> Void) {
    let (outputs, isOtherTime) = machine.withLock { machine in
      let deadline = machine.deadline
      body(&machine)
      return (machine.takeOutputs(), machine.deadline != deadline)
    }
    agenda.outputs = outputs[...]
    if isOtherTime { agenda.mustSetTimer = true }
  }

  private func perform(_ output: LinkMachine.Output, _ agenda: inout Agenda) -> Step? {
    if case .acknowledged = output, !bus.hasSubscribers(EventLink.DidAcknowledge.self) { return nil }
    willCallHandlers()
    switch output {
    case .send: preconditionFailure("messages are sent in rows")
    case .post(let topic, let payload): return post(payload, from: topic, &agenda)
    case .removeLatest(let topic, let type):
      let receivers = receivers(of: topic)
      let named = receivers.filter { $0.name == type }
      return Self.joined((named.isEmpty ? receivers : named).compactMap { $0.removeLatest(bus, topic) })
    case .missed(let topic, let origin, let count):
      bus.post(EventLink.DidMiss(topic: topic, origin: origin, count: count))
    case .dropped(let topic, let count, let lane): didDrop(count, of: topic, by: lane)
    case .acknowledged(let topic, let number, let lane):
      let name = machine.withLock { $0.topics[topic].name }
      report(of: lane) { EventLink.DidAcknowledge(link: $0, topic: name, number: number) }
    case .rejected(let topic, let reason): bus.post(EventLink.DidReject(topic: topic, reason: reason))
    case .idle(let lane, let connection): link(lane)?.hasSentAll(on: connection)
    }
    return nil
  }

  private func post(_ payload: [UInt8], from topic: String, _ agenda: inout Agenda) -> Step? {
    var steps: [Step] = []
    for receiver in receivers(of: payload, on: topic, &agenda) {
      do throws(LinkFormatError) {
        if let step = try receiver.post(bus, payload, topic) { steps.append(step) }
      } catch {
        bus.post(EventLink.DidReject(topic: topic, reason: error.description))
      }
    }
    return Self.joined(steps)
  }

  private static func joined(_ steps: [Step]) -> Step? {
    if steps.isEmpty { return nil }
    return { for step in steps { await step() } }
  }

  func link(_ lane: LinkMachine.LinkID) -> EventLink? { declarations.withLock { $0.links[lane]?.link } }

  private func link(_ lane: LinkMachine.LinkID, _ agenda: inout Agenda) -> EventLink? {
    if let found = agenda.found, found.number == lane { return found.link }
    let link = link(lane)
    agenda.found = (lane, link)
    return link
  }

  /// The receivers of a message: those whose type has the event's name; if there are none, each whose type it may be.
  private func receivers(of payload: [UInt8], on topic: String, _ agenda: inout Agenda) -> [Receiver] {
    if agenda.receivers?.topic != topic { agenda.receivers = (topic, self.receivers(of: topic)) }
    let receivers = agenda.receivers?.all ?? []
    if receivers.count == 1, receivers[0].type != nil { return receivers }
    let name = (try? CloudEvent(payload))?.type
    let named = receivers.filter { $0.name == name }
    return named.isEmpty ? receivers.filter { $0.type != nil } : named
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
        let task = tasks.start(seeing: shared) { [self] in
          guard (try? await clock.sleep(until: .init(offset: deadline))) != nil else { return }
          take(.time)
        }
        return (deadline, task)
      }
    }
  }
}
