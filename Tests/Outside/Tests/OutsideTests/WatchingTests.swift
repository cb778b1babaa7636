import AppLifecycle
import AppLifecycleTestSupport
import AppLifecycleTesting
import OutsideKit
import PubSub
import Synchronization
import Testing
import UnixHost

@MainActor @Suite(.serialized) struct WatchingTests {
  @Test(.simulatedSystem) func theExporterHasEachCall() async throws {
    let system = try SimulatedSystem.current
    let exporter = Exporter(system.application)
    try system.application.manage("feed", while: .active) {
      1
    } release: { _ in
    }
    try await system.play("launch; interrupt:call")
    #expect(
      exporter.lines == [
        "delegate applicationWillFinishLaunching", "delegate applicationDidFinishLaunching",
        "delegate applicationDidBecomeActive", "resource feed",
        "delegate applicationWillResignActive", "resource feed",
      ])
    #expect(exporter.openCalls == 0)
  }

  @Test(.simulatedSystem) func theLoggerHasStatesAndMessages() async throws {
    let system = try SimulatedSystem.current
    let box = Lines()
    let logger = Logger(system.application) { box.add($0) }
    defer { HostMessage.redirect(to: nil) }
    try await system.play("launch; home")
    withExtendedLifetime(logger) {}
    #expect(
      box.all == [
        "info: inactive because of launch", "info: active because of launch",
        "info: inactive because of home",
        "info: background because of home",
      ])
  }

  private final class Lines: Sendable {
    private let lines = Mutex<[String]>([])
    var all: [String] { lines.withLock { $0 } }
    func add(_ line: String) { lines.withLock { $0.append(line) } }
  }
}
