import AppLifecycle
import AppLifecycleTesting
import LifecycleJournal
import PubSub
import Testing
import UnixHost

// The listings of the articles that stand in no other test, word for word.

@MainActor private final class Drainer {}

extension Drainer: MainApplicationDelegate {
  static var configuration: Application.Configuration {
    var configuration = Application.Configuration()
    configuration.willTerminateBudget = .seconds(20)
    return configuration
  }
}

@MainActor final class Ticker {
  private(set) var ticks = 0
  private weak var application: Application?
  private let clock: ApplicationClock

  init(in application: Application) {
    (self.application, clock) = (application, application.clock)
    application.bus.subscribe(
      to: Application.DidBecomeActive.self, for: self
    ) { ticker, _ in
      ticker.start()
    }
  }

  func start() {
    application?.task(self) { ticker in
      try await ticker.clock.sleep(for: .seconds(1))
      ticker.ticks += 1
    }
  }
}

private final class Captured {}

@MainActor private final class Owner {}

@MainActor private final class TickingDelegate {
  private(set) var ticker: Ticker?
}

extension TickingDelegate: ApplicationDelegate {
  func applicationDidFinishLaunching(_ application: Application) { ticker = Ticker(in: application) }
}

@MainActor @Suite struct `The guides` {
  @Test func `a component does not keep its application, and may outlive it`() async throws {
    weak var application: Application?
    func play() async throws -> Ticker? {
      let delegate = TickingDelegate()
      let system = SimulatedSystem { delegate }
      application = system.application
      try await system.play("launch; wait:2s; kill")
      return delegate.ticker
    }
    let ticker = try #require(try await play())
    #expect(ticker.ticks == 1)
    #expect(application == nil)
    ticker.start()
  }

  @Test func `the closure of a released owner lives until a later event, or a later opening`() async throws {
    let system = SimulatedSystem()
    var owner: Owner? = Owner()
    weak var ofHandler: Captured?
    weak var ofBody: Captured?
    func begin(_ owner: Owner) {
      let (first, second) = (Captured(), Captured())
      (ofHandler, ofBody) = (first, second)
      system.bus.subscribe(to: Application.DidReceiveMemoryWarning.self, for: owner) { _, _ in
        withExtendedLifetime(first) {}
      }
      system.application.run(owner, while: .active) { _ in withExtendedLifetime(second) {} }
    }
    begin(try #require(owner))
    try await system.play("launch; interrupt:call")
    owner = nil
    #expect(ofHandler != nil && ofBody != nil)
    try await system.play("memory; end:call")
    #expect(ofHandler == nil && ofBody == nil)
  }

  @Test func `in a tear-down each priority ends before the next, the lowest first`() async throws {
    let system = SimulatedSystem()
    var order: [String] = []
    let owner = Owner()
    system.bus.subscribe(to: Application.DidEnterBackground.self, for: owner, priority: .high) { _, _ in
      order.append("save")
    }
    for name in ["first", "second"] {
      system.bus.receive(Application.DidEnterBackground.self, for: owner) { [clock = system.application.clock] _, _ in
        try await clock.sleep(for: .seconds(1))
        order.append("\(name), awaited")
      }
      system.bus.subscribe(to: Application.DidEnterBackground.self, for: owner) { _, _ in order.append(name) }
    }
    try await system.play("launch; home")
    #expect(order.prefix(2) == ["second", "first"] && order.last == "save" && order.count == 5, "\(order)")
  }

  @Test(arguments: ["kill", "quit", "home; kill"])
  func `the end of a script waits for no background task`(end: String) async throws {
    let system = SimulatedSystem()
    try await system.play("launch")
    var isCancelled = false
    system.application.performBackgroundTask(named: "upload") { [clock = system.application.clock] in
      try? await clock.sleep(for: .seconds(10))
      isCancelled = Task.isCancelled
    }
    try await system.play(end)
    #expect(isCancelled && system.clock.now.offset == .zero && system.hasEndedInOrder)
  }

  @Test func `a delegate sets the time for its end`() {
    #expect(Drainer.configuration.willTerminateBudget == .seconds(20))
    #expect(Application.Configuration().willTerminateBudget == .seconds(5))
  }

  @Test func `without a host nothing is known of the machine`() {
    var log: [String] = []
    for fact in HostCapability.allCases {
      if let availability = fact.availability { log.append("\(fact): \(availability)") }
    }
    #expect(log == [])
  }
}
