#if MQTT
  import CMosquitto
  import LibC
  import Scheduling

  /// One connection to a broker, from its beginning to its end.
  final class MQTTConnection: Sendable {
    struct Settings: Sendable {
      var host: String
      var port: Int
      var security: MQTTTransport.Security
      var user: (name: String, password: String)?
      var keepAlive: Int
      /// A job that is found running twice at this interval is not waited for: another thread serves the connection.
      var lookInterval: Duration
      var will: LinkMessage?
    }

    /// What a task may wait for.
    enum Step { case connected, subscribed, ended }

    private struct State {
      /// The library's object.
      nonisolated(unsafe) var handle: OpaquePointer?
      var subscription: (identifier: Int32, isGranted: Bool?)?
      var waiters: [UnsafeContinuation<Void, Never>] = []
      var isConnected = false
      var ended: String?

      func has(_ step: Step) -> Bool {
        switch step {
        case .connected: isConnected
        case .subscribed: subscription?.isGranted != nil
        case .ended: ended != nil
        }
      }
    }

    /// The messages in the library, by its identifiers.
    private struct Messages {
      /// The number of each that is known under its identifier.
      var numbers: [Int32: UInt64] = [:]
      /// The identifiers that were acknowledged before they were known here.
      var acknowledged: Set<Int32> = []
    }

    /// The jobs that the thread runs between two reads.
    private struct Jobs {
      var last = 0
      var running: Int?
      /// Whether a timer looks for a job that takes long.
      var isWatched = false
    }

    private let state = Guarded(State())
    private let messages = Guarded(Messages())
    private let jobs = Guarded(Jobs())
    private let lookInterval: Duration
    private let receive: @Sendable (LinkTransportEvent) -> Void

    /// Begins to connect.
    init(_ settings: Settings, _ receive: @escaping @Sendable (LinkTransportEvent) -> Void) throws(MQTTError) {
      self.receive = receive
      lookInterval = settings.lookInterval
      var reason: UnsafePointer<CChar>?
      let context = Unmanaged.passRetained(self)
      let handle = Self.withOptions(settings) { options in
        withUnsafePointer(to: options) { mqtt_connect($0, Self.events(context), &reason) }
      }
      guard let handle else {
        context.release()
        throw MQTTError("\(settings.host):\(settings.port): \(reason.map { String(cString: $0) } ?? "no connection")")
      }
      state.withLock { $0.handle = handle }
    }

    deinit { if let handle = state.withLock({ $0.handle }) { mqtt_release(handle) } }

    // MARK: Steps

    func untilConnected() async throws { try await wait(for: .connected) }

    /// Subscribes, and returns when the broker has granted all of it.
    func subscribe(to filters: [String], _ quality: LinkQuality) async throws {
      let texts = filters.map { strdup($0) }
      defer { for text in texts { free(text) } }
      let error = state.withLock { state -> Int32 in
        guard let handle = state.handle, state.ended == nil else { return 0 }
        var identifier: Int32 = 0
        let error = mqtt_subscribe(handle, Int32(texts.count), texts, quality.level, &identifier)
        state.subscription = (identifier, nil)
        return error
      }
      guard error == 0 else { throw MQTTError(String(cString: mqtt_text_of_error(error))) }
      try await wait(for: .subscribed)
      guard state.withLock({ $0.subscription?.isGranted }) == true else {
        throw MQTTError("the broker refuses a subscription to one of \(filters.joined(separator: ", "))")
      }
    }

    func publish(_ message: LinkMessage, number: UInt64) -> Bool {
      guard let handle = state.withLock({ $0.ended == nil ? $0.handle : nil }) else { return false }
      var identifier: Int32 = 0
      // Under no lock of ours, for which acknowledgements would wait: the library looks through all messages in transit. The
      // pointer is the string's own, where an argument of type `String` would be a copy.
      let error = message.topic.withCString { topic in
        message.payload.withUnsafeBytes { payload in
          mqtt_publish(
            handle, topic, payload.baseAddress, payload.count, message.quality.level, message.isRetained, &identifier)
        }
      }
      guard error == 0 else {
        // What the library will never take would stay in transit. Of a connection that is lost, its thread has the reason.
        if !mqtt_is_loss(error) { end(because: String(cString: mqtt_text_of_error(error))) }
        return false
      }
      let isAcknowledged = messages.withLock { [identifier] messages in
        if messages.acknowledged.remove(identifier) != nil { return true }
        messages.numbers[identifier] = number
        return false
      }
      if isAcknowledged { receive(.acknowledged(number)) }
      return true
    }

    func flush() {
      if let handle = state.withLock({ $0.ended == nil ? $0.handle : nil }) { mqtt_flush(handle) }
    }

    func untilEnded() async { try? await wait(for: .ended) }

    /// Asks the thread to end the connection.
    func end(inOrder: Bool) {
      state.withLock { state in
        if let handle = state.handle { mqtt_end(handle, inOrder) }
      }
    }

    /// Ends the connection for a reason of this process, at once: the thread may still be waiting for the network.
    ///
    /// With a step, it ends the connection only if that has not come: the task that waits for it may wait for a thread.
    func end(because reason: String, unless step: Step? = nil) {
      change { state in
        if let step, state.has(step) { return }
        state.ended = state.ended ?? reason
        if let handle = state.handle { mqtt_end(handle, false) }
      }
    }

    /// Runs a job on the connection's thread; if it takes long, another thread serves the connection meanwhile.
    private func run(_ job: UnsafeMutableRawPointer) {
      let (number, mustWatch) = jobs.withLock { jobs in
        jobs.last += 1
        jobs.running = jobs.last
        defer { jobs.isWatched = true }
        return (jobs.last, !jobs.isWatched)
      }
      if mustWatch { watch(number) }
      ConnectionJob.run(job, onThread: true)
      jobs.withLock { if $0.running == number { $0.running = nil } }
    }

    /// Looks, after a while, whether the same job still runs.
    private func watch(_ number: Int) {
      // Not weakly: that would make every other reference to the connection slow.
      _ = TimerThread.shared.set(after: lookInterval, on: .continuous) { [self] in
        let running = jobs.withLock { jobs in
          jobs.isWatched = jobs.running != nil && (jobs.running != number || !relieve())
          return jobs.isWatched ? jobs.running : nil
        }
        if let running { watch(running) }
      }
    }

    /// Gives a job to a connection's thread: to this thread if it reads for one, or else to that of `connection`.
    ///
    /// Returns false if there is none, or it has a job already.
    static func accept(_ job: UnsafeMutableRawPointer, _ connection: MQTTConnection?) -> Bool {
      // The handle lasts as long as the connection.
      withExtendedLifetime(connection) { mqtt_defer(connection?.state.withLock { $0.handle }, job) }
    }

    /// Lets another thread serve the connection; returns false if there can be none.
    private func relieve() -> Bool { state.withLock { $0.handle.map { mqtt_relieve($0) } ?? true } }

    /// Waits for a step, or throws the reason why the connection has ended.
    private func wait(for step: Step) async throws {
      while true {
        let (hasCome, ended) = state.withLock { ($0.has(step), $0.ended) }
        if hasCome { return }
        if let ended { throw MQTTError(ended) }
        await withUnsafeContinuation { continuation in
          let isOver = state.withLock { state in
            if state.has(step) || state.ended != nil { return true }
            state.waiters.append(continuation)
            return false
          }
          if isOver { continuation.resume() }
        }
      }
    }

    private func change(_ body: (inout State) -> Void) {
      let waiters = state.withLock { state in
        body(&state)
        defer { state.waiters = [] }
        return state.waiters
      }
      for waiter in waiters { waiter.resume() }
    }

    // MARK: What the library reports

    private static func events(_ context: Unmanaged<MQTTConnection>) -> mqtt_events {
      mqtt_events(
        context: context.toOpaque(),
        connected: { MQTTConnection.of($0).change { $0.isConnected = true } },
        subscribed: { context, identifier, count, granted in
          let levels = UnsafeBufferPointer(start: granted, count: Int(count))
          let isGranted = levels.allSatisfy { $0 < 128 }
          MQTTConnection.of(context).change { state in
            if state.subscription?.identifier == identifier { state.subscription?.isGranted = isGranted }
          }
        },
        received: { context, topic, payload, length, quality, isRetained in
          guard let topic else { return }
          // A link rejects a longer one, whatever is in the rest of it.
          let bytes = Array(UnsafeRawBufferPointer(start: payload, count: min(length, LinkMachine.longestPayload + 1)))
          let message = LinkMessage(
            topic: String(cString: topic), payload: bytes, quality: quality == 0 ? .atMostOnce : .atLeastOnce,
            isRetained: isRetained)
          MQTTConnection.of(context).receive(.received(message))
        },
        published: { context, identifier in
          let connection = MQTTConnection.of(context)
          let number = connection.messages.withLock { messages in
            if let number = messages.numbers.removeValue(forKey: identifier) { return UInt64?.some(number) }
            messages.acknowledged.insert(identifier)
            return nil
          }
          if let number { connection.receive(.acknowledged(number)) }
        },
        run: { context, job in
          if let job { MQTTConnection.of(context).run(job) }
        },
        decline: { _, job in
          if let job { ConnectionJob.run(job, onThread: false) }
        },
        closed: { context, reason in
          guard let reason else { return }
          let connection = MQTTConnection.of(context)
          let text = String(cString: reason)
          connection.change { $0.ended = $0.ended ?? text }
          connection.receive(.closed(reason: connection.state.withLock { $0.ended } ?? text))
        },
        release: { context in
          if let context { Unmanaged<MQTTConnection>.fromOpaque(context).release() }
        })
    }

    private static func of(_ context: UnsafeMutableRawPointer?) -> MQTTConnection {
      guard let context else { preconditionFailure("the library has lost its context") }
      return Unmanaged<MQTTConnection>.fromOpaque(context).takeUnretainedValue()
    }

    private static func withOptions<Result>(_ settings: Settings, _ body: (mqtt_options) -> Result) -> Result {
      var texts: [UnsafeMutablePointer<CChar>?] = []
      defer { for text in texts { free(text) } }
      func text(_ value: String?) -> UnsafePointer<CChar>? {
        let copy = value.flatMap { strdup($0) }
        texts.append(copy)
        return copy.map { UnsafePointer($0) }
      }
      var options = mqtt_options()
      options.host = text(settings.host)
      options.port = Int32(clamping: settings.port)
      options.keep_alive = Int32(clamping: settings.keepAlive)
      (options.username, options.password) = (text(settings.user?.name), text(settings.user?.password))
      options.has_tls = settings.security != .none
      if case .files(let authorities, let certificate, let key) = settings.security {
        (options.ca_file, options.certificate, options.key) = (text(authorities), text(certificate), text(key))
      }
      options.most_in_flight = 1_000
      guard let will = settings.will else { return body(options) }
      options.will_topic = text(will.topic)
      (options.will_quality, options.will_is_retained) = (will.quality.level, will.isRetained)
      return will.payload.withUnsafeBytes { payload in
        (options.will_payload, options.will_length) = (payload.baseAddress, payload.count)
        return body(options)
      }
    }
  }

  extension LinkQuality {
    /// The quality of service of MQTT.
    fileprivate var level: Int32 { self == .atMostOnce ? 0 : 1 }
  }
#endif
