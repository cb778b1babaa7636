#if MQTT
  import AppLifecycle
  import EventLink
  import LinkWorkload
  import PubSub
  import Scheduling

  /// The test's own application, which sees all processes.
  @MainActor final class Observatory {
    let application: Application
    let fleet = Fleet()
    private let link: EventLink
    private let changes = Changes()
    private var subscriptions: [EventBus.Subscription] = []
    private var questions = 0
    private var asked: ContinuousClock.Instant?

    /// Lets one task wait for a condition that events may bring about.
    private final class Changes: Sendable {
      private let waiter = Guarded<OneShot<Bool>?>(nil)
      private let known = Guarded<[Int: Tally]>([:])

      var tallies: [Int: Tally] { known.withLock { $0 } }

      func note(_ tally: Tally) {
        known.withLock { $0[tally.from] = tally }
        happened()
      }

      func happened() { waiter.withLock { $0.take() }?.settle(true) }
      func next() async {
        let wait = OneShot<Bool>()
        waiter.withLock { $0 = wait }
        let clear = TimerThread.shared.set(after: .milliseconds(500), on: .continuous) { wait.settle(false) }
        _ = await wait.value
        clear()
      }
    }

    init(port: UInt16) async throws {
      var configuration = Application.Configuration()
      configuration.retry = RetryPolicy(first: .milliseconds(50), longest: .milliseconds(200))
      application = Application(delegate: Bare(), configuration: configuration)
      let fleet = fleet
      link = try EventLink(
        of: application, to: MQTTTransport(host: "127.0.0.1", port: Int(port), keepAlive: .seconds(5))
      ) { link in
        try link.send(Go.self, as: "test/go", quality: .atLeastOnce)
        try link.send(Question.self, as: "test/questions", quality: .atLeastOnce)
        try link.receive(Tally.self, as: "test/tallies")
        try link.follow(fleet, on: "test/fleet/+")
      }
      let link = link
      try application.manage("broker", while: .running) {
        try await link.open()
      } run: {
        try await link.run()
      } release: {
        await link.close()
      }
      let changes = changes
      subscriptions = [
        application.bus.subscribe { (tally: Tally) in changes.note(tally) },
        application.bus.subscribe { (_: Fleet.MemberDidChange) in changes.happened() },
      ]
      await application.handle(.launch)
      await application.untilResourcesAreHeld()
    }

    /// The latest tallies.
    var tallies: [Int: Tally] { changes.tallies }

    func end() async { await application.handle(.shutDown) }

    /// Waits until a condition holds; asks the processes for their tallies again and again.
    func until(
      _ what: String, within limit: Duration = .seconds(120), asking: Bool = false, _ condition: ([Int: Tally]) -> Bool
    ) async throws {
      let start = ContinuousClock.now
      while true {
        let known = changes.tallies
        if condition(known) { return }
        guard start.duration(to: .now) < limit else { throw Missing("\(what) within \(limit): \(states()), \(known)") }
        if asking { ask() }
        await changes.next()
      }
    }

    /// Asks, but not again for each answer.
    private func ask() {
      let now = ContinuousClock.now
      guard asked.map({ $0 + .milliseconds(400) <= now }) ?? true else { return }
      (asked, questions) = (now, questions + 1)
      application.bus.post(Question(number: questions))
    }

    /// Waits until each of so many processes has answered a question that is asked now.
    func untilAllAnswer(_ processes: Int) async throws {
      let first = questions + 1
      try await until("all answer", asking: true) { tallies in
        tallies.count == processes && tallies.values.allSatisfy { $0.question >= first }
      }
    }

    /// Waits for a tally or a change of the fleet, half a second at most.
    func untilSomethingHappens() async { await changes.next() }

    struct Missing: Error, CustomStringConvertible {
      let description: String
      init(_ description: String) { self.description = description }
    }

    func states() -> [String: String] {
      Dictionary(uniqueKeysWithValues: fleet.members.map { (String($0.id.dropFirst(11)), $0.state.description) })
    }
  }
#endif
