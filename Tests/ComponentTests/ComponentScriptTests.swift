import AppLifecycle
import AppLifecycleTesting
import Components
import Foundation
import NotificationCenterBridge
import Scheduling
import TestTraits
import Testing

/// A server that a component sends its batches to; it answers when the test lets it.
final class ServerDouble: AnalyticsTransport, Sendable {
  private struct State {
    var received: [AnalyticsEvent] = []
    var waiting: [@Sendable (Bool) -> Void] = []
    var answers = true
  }

  private let state = Guarded(State())

  /// The names of the events that have come, and how many sessions they are of.
  var names: [String] { state.withLock { $0.received.map(\.name) } }
  var sessions: Int { state.withLock { Set($0.received.map(\.session)).count } }

  /// Whether it answers at once; else it takes nothing, as a network that is slow.
  var answers: Bool {
    get { state.withLock { $0.answers } }
    set { state.withLock { $0.answers = newValue } }
  }

  func send(_ batch: [AnalyticsEvent], completion: @escaping @Sendable (Bool) -> Void) {
    let answers = state.withLock { state in
      if state.answers { state.received += batch } else { state.waiting.append(completion) }
      return state.answers
    }
    if answers { completion(true) }
  }
}

/// Components of iOS, unchanged, in scripts.
@MainActor @Suite(.timeLimit(.hang)) struct `Components of iOS in scripts` {
  private let center = NotificationCenter()
  private let system = SimulatedSystem()
  private let server = ServerDouble()

  private func inDirectory(_ body: (URL) async throws -> Void) async throws {
    let directory = FileManager.default.temporaryDirectory.appending(path: "components-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    try await body(directory)
  }

  private func analytics(_ directory: URL) -> AnalyticsClient {
    var configuration = AnalyticsClient.Configuration(file: directory.appending(path: "events"))
    configuration.now = { [clock = system.clock] in
      Date(timeIntervalSince1970: clock.now.offset / .seconds(1))
    }
    return AnalyticsClient(configuration, transport: server, notificationCenter: center)
  }

  /// Plays one action after another, and lets the component's queue finish in between.
  private func play(_ actions: String, _ client: AnalyticsClient) async throws {
    for action in actions.split(separator: ";") {
      try await system.play(String(action))
      for _ in 0..<3 { client.waitForQueue() }
    }
  }

  @Test func `an analytics client tells of the sessions that iOS has`() async throws {
    let link = NotificationCenterBridge(system.bus, to: center).postLifecycle()
    try await inDirectory { directory in
      let client = analytics(directory)
      try await play("launch; home; wait:1s; open; home; wait:2h; open; home; wait:6s", client)
      #expect(
        server.names == [
          "Application Opened", "Application Backgrounded", "Application Opened From Background",
          "Application Backgrounded", "Application Opened From Background", "Application Backgrounded",
        ])
      #expect(server.sessions == 2)
      #expect(system.application.state == .suspended)
    }
    withExtendedLifetime(link) {}
  }

  @Test func `an analytics client keeps the application awake until its events are sent, and no longer`() async throws {
    let link = NotificationCenterBridge(system.bus, to: center).postLifecycle()
    try await inDirectory { directory in
      let client = analytics(directory)
      server.answers = false
      try await play("launch; home; wait:10s", client)
      #expect(system.application.state == .background)
      // Its task expires, and its events stay on disk for the next launch.
      try await play("wait:20s; kill", client)
      #expect(server.names.isEmpty)
      let stored = try JSONDecoder().decode(
        [AnalyticsEvent].self, from: Data(contentsOf: directory.appending(path: "events")))
      #expect(stored.map(\.name) == ["Application Opened", "Application Backgrounded"])
    }
    withExtendedLifetime(link) {}
  }

  @Test func `an image cache gives memory back, and removes old files in the background`() async throws {
    let link = NotificationCenterBridge(system.bus, to: center).postLifecycle()
    try await inDirectory { directory in
      let clock = system.clock
      let cache = ImageCache(
        directory: directory, maximumAge: 3_600,
        now: { Date(timeIntervalSince1970: clock.now.offset / .seconds(1)) }, notificationCenter: center)
      cache.store(Data("1".utf8), for: "one")
      cache.waitForFiles()
      try await system.play("launch; memory")
      #expect(cache.countInMemory == 0)
      #expect(cache.image(for: "one") == Data("1".utf8))
      try await system.play("memory; wait:2h; home")
      cache.waitForFiles()
      #expect(cache.image(for: "one") == nil)
    }
    withExtendedLifetime(link) {}
  }

  @Test func `a list of windows has those that are on the screen`() async throws {
    let system = SimulatedSystem(profile: .scenes)
    let link = NotificationCenterBridge(system.bus, to: center).postLifecycle()
    let list = WindowList(notificationCenter: center)
    try await system.play("launch; scene:open:second")
    #expect(list.names == ["main", "second"])
    try await system.play("scene:close:second")
    #expect(list.names == ["main"])
    try await system.play("home")
    #expect(list.names == [])
    withExtendedLifetime(link) {}
  }

  @MainActor private final class Socket: RealtimeSocket {
    private let clock: ApplicationClock
    private(set) var messages: [String] = []

    init(_ clock: ApplicationClock) { self.clock = clock }

    func open() async throws { try await clock.sleep(for: .milliseconds(100)) }

    func send(_ message: String) async throws {
      try await clock.sleep(for: .milliseconds(200))
      messages.append(message)
    }

    func close() {}
  }

  /// The loss that a phone's five seconds hide, and a host's grace of one second prevents.
  @Test(arguments: [(Duration?.none, true), (.zero, false)])
  func `a connection leaves its room before a host stops the process, if there is a grace`(
    grace: Duration?, leaves: Bool
  ) async throws {
    var configuration = Application.Configuration()
    configuration.backgroundGrace = grace
    let system = SimulatedSystem(configuration: configuration)
    let link = NotificationCenterBridge(system.bus, to: center).postLifecycle()
    let socket = Socket(system.application.clock)
    let connection = RealtimeConnection(channel: "room", socket: socket, notificationCenter: center)
    try await system.play("launch; wait:1s; host:stop; crash")
    #expect(socket.messages == ["join room"] + (leaves ? ["leave room"] : []))
    withExtendedLifetime((link, connection)) {}
  }
}
