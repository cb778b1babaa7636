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
    application.bus.subscribe(self, to: Application.DidBecomeActive.self) { ticker, _ in ticker.start() }
  }

  func start() {
    application?.task(self) { ticker in
      try await ticker.clock.sleep(for: .seconds(1))
      ticker.ticks += 1
    }
  }
}

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
      let system = SimulatedSystem(delegate: delegate)
      application = system.application
      try await system.play("launch; wait:2s; kill")
      return delegate.ticker
    }
    let ticker = try #require(try await play())
    #expect(ticker.ticks == 1)
    #expect(application == nil)
    ticker.start()
  }

  @Test func `a delegate sets the time for its end`() {
    #expect(Drainer.configuration.willTerminateBudget == .seconds(20))
    #expect(Application.Configuration().willTerminateBudget == .seconds(5))
  }

  @Test func `without a host nothing is known of the machine`() {
    var log: [String] = []
    if let capabilities = HostCapabilities.current { log.append("memory: \(capabilities.memoryPressure)") }
    #expect(log == [])
  }
}
