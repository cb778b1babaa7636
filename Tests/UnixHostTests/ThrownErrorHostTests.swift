import AppLifecycle
import AppLifecycleTesting
import PubSub
import Synchronization
import TestTraits
import Testing

@testable import UnixHost

/// What a host writes about an error of the program's code.
@MainActor @Suite(.timeLimit(.hang)) struct `An error of the program's code in a host` {
  private struct DiskIsFull: Error, CustomStringConvertible { var description: String { "disk is full" } }
  private final class Component: Sendable {}

  private let system = SimulatedSystem()
  private var application: Application { system.application }

  /// Plays a script, and returns the messages of the host.
  private func messages(of script: String) async throws -> [String] {
    let lines = Mutex<[String]>([])
    try await withReporter(sending: { message in lines.withLock { $0.append(message.text) } }) {
      try await system.play(script)
    }
    return lines.withLock { $0 }
  }

  private func withReporter(
    sending send: @escaping @Sendable (HostMessage) -> Void, _ body: () async throws -> Void
  ) async rethrows {
    let reporter = ResourceReporter(application, setTrouble: nil, send: send)
    try await body()
    withExtendedLifetime(reporter) {}
  }

  @Test func `is one line, whichever code threw it`() async throws {
    let bus = system.bus
    let component = Component()
    let subscriptions = [
      bus.subscribe(to: Application.WillTerminate.self, label: "saver") { _ in throw DiskIsFull() },
      bus.receive(Application.DidEnterBackground.self, label: "async saver") {
        (_: Application.DidEnterBackground) async throws in
        throw DiskIsFull()
      },
    ]
    application.task(component, every: .seconds(60), label: "refresh") { _ in throw DiskIsFull() }
    try application.manage("database", while: .running, onError: .rest) {
    } run: {
      throw DiskIsFull()
    } release: {
      throw DiskIsFull()
    }
    let lines = try await messages(of: "launch; wait:1s; home; kill")
    #expect(
      lines == [
        "“refresh” threw an error, and goes on at its next time: disk is full",
        "“database” ended its loop with an error: disk is full; resting",
        "“async saver” threw an error while it handled UIApplicationDidEnterBackgroundNotification: disk is full",
        "“saver” threw an error while it handled UIApplicationWillTerminateNotification: disk is full",
        "“database” was released with an error: disk is full",
      ])
    #expect(application.exitStatus == 0)
    withExtendedLifetime(subscriptions) {}
  }

  @Test func `of a reload is a line`() async throws {
    let lines = Mutex<[String]>([])
    let subscription = system.bus.receive(ServiceHost.Reload.self, label: "settings") {
      (_: ServiceHost.Reload) async throws in
      throw DiskIsFull()
    }
    try await system.play("launch")
    let (bus, application) = (system.bus, application)
    await withReporter(sending: { message in lines.withLock { $0.append(message.text) } }) {
      _ = await system.clock.running {
        await bus.postAndWait(ServiceHost.Reload(application: application), from: application)
      }
    }
    #expect(lines.withLock { $0 } == ["“settings” threw an error while it handled ServiceHost.Reload: disk is full"])
    withExtendedLifetime(subscription) {}
  }

  @Test(arguments: [
    (RunEnd.shutDown(status: 3), "ended its loop with an error: disk is full; ending with status 3"),
    (.again, "ended its loop with an error: disk is full; beginning again in 0.2"),
    (.rest, "ended its loop with an error: disk is full; resting"),
  ])
  func `of a loop says what follows`(reaction: RunEnd, text: String) async throws {
    try application.manage("feed", while: .running, onError: reaction) {
    } run: {
      throw DiskIsFull()
    }
    let lines = try await messages(of: "launch; wait:100ms")
    #expect(lines.count == 1 && lines[0].hasPrefix("“feed” \(text)"), "\(lines)")
  }

  @Test func `of a body, and the return of one, say what follows`() async throws {
    let component = Component()
    application.run(component, while: .running, onReturn: .shutDown(status: 4), label: "main") { [system] _ in
      try? await system.clock.sleep(for: .seconds(1))
    }
    application.run(component, while: .running, onError: .rest, label: "side") { _ in throw DiskIsFull() }
    application.run(component, while: .running, label: "once") { _ in }
    application.run(component, while: .running, label: "flush") { [system] _ in
      try? await system.clock.sleep(for: .seconds(100))
      throw DiskIsFull()
    }
    #expect(
      try await messages(of: "launch; wait:2s") == [
        "“side” ended with an error: disk is full; resting",
        "“main” returned; ending with status 4",
        "“flush” ended with an error as it was closed: disk is full",
      ])
  }

  @Test func `of a loop that fails at once for ever is a few lines`() async throws {
    try application.manage("feed", while: .running, onError: .again) {
    } run: {
      throw DiskIsFull()
    }
    try application.manage("server", while: .running) {
    } run: {
    }
    let lines = try await messages(of: "launch; wait:1h")
    #expect(lines.count(where: { $0.hasPrefix("“feed” ended its loop") }) == 8, "\(lines)")
    let server = lines.filter { $0.hasPrefix("“server”") }
    #expect(server.first?.hasPrefix("“server” broke: the run loop of “server” returned; trying again") == true)
    // It is acquired each time, and yet it has not recovered.
    #expect(server.count(where: { $0.contains("has been acquired") }) == 1, "\(server)")
    #expect(server.count == 9 && server.dropFirst(2).allSatisfy { $0.contains("broke again") }, "\(server)")
  }

  @Test func `of a resource that was given up names the status with which the program ends`() async throws {
    try application.manage("server", while: .running, retry: .failFast(status: 5)) { throw DiskIsFull() }
    #expect(
      try await messages(of: "launch; wait:1s") == [
        "“server” cannot be acquired: disk is full; given up after one failure; ending with status 5"
      ])
  }

  @Test func `of a resource that breaks is one line, with what follows`() async throws {
    try application.manage("socket", while: .running) {
    } run: {
      throw DiskIsFull()
    }
    let lines = try await messages(of: "launch")
    #expect(lines.count == 1, "\(lines)")
    #expect(lines.first?.hasPrefix("“socket” broke: disk is full; trying again in 0.2") == true, "\(lines)")
  }
}
