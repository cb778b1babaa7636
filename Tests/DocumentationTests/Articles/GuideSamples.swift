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

@MainActor @Suite struct `The guides` {
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
