import AppLifecycle
import EventLink
import Glibc
import LinkWorkload
import PubSub
import Scheduling
import UnixHost

/// A real program with a link, for tests with many processes; its arguments are the broker's port, its number, the number of all, the
/// quality of its ticks, the phase of its link, and the file of the certificate that it trusts, without which the connection is not encrypted.
@main @MainActor final class LinkProbe {
  private let counter = Counter()
  private var subscriptions: [EventBus.Subscription] = []
  private var number: Int { Int(CommandLine.arguments[2]) ?? 0 }
}

extension LinkProbe: MainApplicationDelegate {
  static var configuration: Application.Configuration {
    var configuration = Application.Configuration()
    configuration.retry = RetryPolicy(first: .milliseconds(50), longest: .milliseconds(200))
    return configuration
  }

  func applicationDidFinishLaunching(_ application: Application) {
    do { try start(application) } catch { fatalError("\(error)") }
  }

  private func start(_ application: Application) throws {
    #if MQTT
      let arguments = CommandLine.arguments
      let transport = MQTTTransport(
        host: "127.0.0.1", port: Int(arguments[1]),
        security: arguments.count > 6 ? .files(authorities: arguments[6]) : .none, keepAlive: .seconds(5))
      let quality: LinkQuality = arguments[4] == "atLeastOnce" ? .atLeastOnce : .atMostOnce
      var options = EventLink.Options()
      options.kept = 20_000
      // Twenty processes may have two processors.
      options.patience = .seconds(1_200)
      let link = try EventLink(of: application, to: transport, options: options) { link in
        try link.send(Tick.self, as: Tick.topic(of: number), quality: quality)
        for sender in Tick.senders(to: number, of: Int(arguments[3]) ?? 1) {
          try link.receive(Tick.self, as: Tick.topic(of: sender))
        }
        try link.receive(Go.self, as: "test/go")
        try link.receive(Question.self, as: "test/questions")
        try link.send(Tally.self, as: "test/tallies", quality: .atLeastOnce)
        try link.announceLifeCycle(as: "test/fleet/\(number)")
      }
      try application.manage("broker", while: LifecyclePhase(rawValue: arguments[5]) ?? .running) {
        try await link.open()
      } run: {
        try await link.run()
      } release: {
        await link.close()
      }
      subscribe(application.bus, quality)
    #else
      fatalError("the package trait MQTT is off")
    #endif
  }

  private func subscribe(_ bus: EventBus, _ quality: LinkQuality) {
    let (counter, number) = (counter, number)
    let pace = Pace()
    subscriptions = [
      bus.subscribe { (tick: Tick) in if tick.from != number { counter.count(tick) } },
      bus.subscribe { (missed: EventLink.DidMiss) in
        if missed.topic.hasPrefix("test/ticks") { counter.miss(missed.count) }
      },
      bus.subscribe { (drop: EventLink.DidDrop) in counter.change { [count = drop.count] in $0.dropped += count } },
      bus.subscribe { (done: EventLink.DidAcknowledge) in
        if done.topic == Tick.topic(of: number) { pace.acknowledged(done.number) }
      },
      bus.receive { (go: Go) in
        for _ in 0..<go.ticks {
          let next = counter.tally.posted + 1
          if quality == .atLeastOnce { await pace.untilMayPost(next) }
          counter.change { $0.posted = next }
          bus.post(Tick(from: number, number: next))
        }
      },
      bus.subscribe { (question: Question) in
        var tally = counter.tally
        (tally.question, tally.from) = (question.number, number)
        bus.post(tally)
      },
    ]
  }
}

/// Keeps a process from posting faster than the broker takes its events.
private final class Pace: Sendable {
  private struct State {
    var acknowledged = 0
    var waiter: (number: Int, OneShot<Bool>)?
  }

  private let state = Guarded(State())

  func acknowledged(_ number: Int) {
    let settled = state.withLock { state -> OneShot<Bool>? in
      state.acknowledged = max(state.acknowledged, number)
      guard let (wanted, wait) = state.waiter, wanted - 5_000 <= state.acknowledged else { return nil }
      state.waiter = nil
      return wait
    }
    settled?.settle(true)
  }

  func untilMayPost(_ number: Int) async {
    let wait = OneShot<Bool>()
    let mayPost = state.withLock { state in
      if number - 5_000 <= state.acknowledged { return true }
      state.waiter = (number, wait)
      return false
    }
    if !mayPost { _ = await wait.value }
  }
}
