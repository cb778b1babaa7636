import ComponentsOnStandIn
import Foundation
import Scheduling
import TestTraits
import Testing
import UIKitStandIn

/// The same files on the stand-in of UIKit, played as iOS does: what they send is what the scripts of this package expect.
///
/// The stand-in posts to the default notification center, as UIKit does, so its tests run one after another.
@MainActor @Suite(.serialized, .timeLimit(.hang)) struct `Components of iOS on the stand-in` {
  private final class Server: AnalyticsTransport, Sendable {
    private let received = Guarded<[AnalyticsEvent]>([])

    var names: [String] { received.withLock { $0.map(\.name) } }
    var sessions: Int { received.withLock { Set($0.map(\.session)).count } }

    func send(_ batch: [AnalyticsEvent], completion: @escaping @Sendable (Bool) -> Void) {
      received.withLock { $0 += batch }
      completion(true)
    }
  }

  private final class Clock: Sendable {
    private let seconds = Guarded(0.0)

    var now: Date { Date(timeIntervalSince1970: seconds.withLock { $0 }) }
    func pass(_ time: Double) { seconds.withLock { $0 += time } }
  }

  @MainActor private final class Socket: RealtimeSocket {
    private(set) var messages: [String] = []

    func open() async throws {}
    func send(_ message: String) async throws { messages.append(message) }
    func close() {}
  }

  @Test func `an analytics client tells of the same sessions`() async throws {
    let directory = FileManager.default.temporaryDirectory.appending(path: "stand-in-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    let (server, clock) = (Server(), Clock())
    var configuration = AnalyticsClient.Configuration(file: directory.appending(path: "events"))
    configuration.now = { clock.now }
    let client = AnalyticsClient(configuration, transport: server)
    func leave() {
      UIKitSystem.leave()
      for _ in 0..<3 { client.waitForQueue() }
    }
    UIKitSystem.launch()
    leave()
    clock.pass(1)
    UIKitSystem.comeBack()
    leave()
    clock.pass(7_200)
    UIKitSystem.comeBack()
    leave()
    #expect(
      server.names == [
        "Application Opened", "Application Backgrounded", "Application Opened From Background",
        "Application Backgrounded", "Application Opened From Background", "Application Backgrounded",
      ])
    #expect(server.sessions == 2)
  }

  @Test func `a connection joins and leaves its room`() async throws {
    let socket = Socket()
    let connection = RealtimeConnection(channel: "room", socket: socket)
    UIKitSystem.launch()
    await connection.waitForSteps()
    UIKitSystem.leave()
    await connection.waitForSteps()
    UIKitSystem.comeBack()
    await connection.waitForSteps()
    #expect(socket.messages == ["join room", "leave room", "join room"])
  }

  @Test func `an image cache gives memory back`() async throws {
    let directory = FileManager.default.temporaryDirectory.appending(path: "stand-in-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: directory) }
    let clock = Clock()
    let cache = ImageCache(directory: directory, maximumAge: 3_600, now: { clock.now })
    cache.store(Data("1".utf8), for: "one")
    cache.waitForFiles()
    UIKitSystem.launch()
    UIKitSystem.warnOfMemory()
    #expect(cache.countInMemory == 0)
    clock.pass(7_200)
    UIKitSystem.leave()
    cache.waitForFiles()
    #expect(cache.image(for: "one") == nil)
  }
}
