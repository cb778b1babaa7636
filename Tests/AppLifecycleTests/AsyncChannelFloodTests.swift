import AppLifecycleTesting
import NIOCoreStandIn
import Scheduling
import TestTraits
import Testing

@testable import AppLifecycle

/// The server of the page on services, with the double of a NIOAsyncChannel: one that is dropped without a run ends the process.
@Suite(.timeLimit(.hang)) struct `Channels that trap if they are dropped` {
  @Test(.longRunning) func `are all run, in a thousand floods`() async {
    let seed = UInt64.random(in: .min ... .max)
    print("a thousand floods: seed \(seed)")
    await #expect(processExitsWith: .success, "seed \(seed)") { [seed = seed as UInt64] in
      try await playFloods(1_000, seed: seed)
    }
  }

  /// After the bodies have ended there is no run.
  @Test(.longRunning) func `end the process if they come with the release of the listener`() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      try await playLateChannel()
    }
    let message = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
    #expect(message.contains("Deinited NIOAsyncWriter without calling finish()"), "\(message)")
  }
}

/// A connection whose peer sends nothing, and stays.
private final class Connection: Channel {
  private let (lines, continuation) = AsyncStream.makeStream(of: String.self)
  private let isOpen = Guarded(true)
  var isActive: Bool { isOpen.withLock { $0 } }

  var channel: NIOAsyncChannel<String, String> { NIOAsyncChannel(wrapping: self, inbound: lines) { _ in } }

  func finish() { continuation.finish() }
  func close() { isOpen.withLock { $0 = false } }
}

/// A client of the server, and its channel.
@MainActor private final class Client {
  private let connection = Connection()
  private let channel: NIOAsyncChannel<String, String>

  init() { channel = connection.channel }

  func serve() async throws {
    try await channel.executeThenClose { inbound, outbound in
      for try await line in inbound { try await outbound.write(line) }
    }
  }

  nonisolated func finishLine() { connection.finish() }
}

@MainActor private final class Server {
  var (served, closed) = (0, 0)

  func serve(in application: Application) {
    application.run(Client(), while: .running, label: "client") { client in
      self.served += 1
      await withPhaseClosingHandler {
        try? await client.serve()
      } onClose: { [weak client] in
        client?.finishLine()
      }
      self.closed += Task.isCancelled ? 0 : 1
    }
  }
}

/// Clients come at random moments around the end, some to an accept that takes its time.
@MainActor private func playFloods(_ count: Int, seed: UInt64) async throws {
  var random = SplitMix64(seed: seed)
  for flood in 0..<count {
    let (system, server) = (SimulatedSystem(), Server())
    let clients = (0..<8).map { _ in Duration.milliseconds(Int.random(in: 0...100, using: &random)) }.sorted()
    let slow = Bool.random(using: &random) ? Duration.milliseconds(300) : .zero
    let clock = system.clock
    system.application.run(server, while: .running, label: "accept") { [weak application = system.application] server in
      await withPhaseClosingHandler {
        for time in clients {
          try? await clock.sleep(for: time - clock.now.offset + slow)
          if let application { server.serve(in: application) }
        }
      } onClose: {
      }
    }
    try await system.play("launch; wait:50ms; kill")
    precondition(
      (server.served, server.closed) == (8, 8) && system.application.exitStatus == 0,
      "flood \(flood): \(server.served) served, \(server.closed) closed")
  }
}

@MainActor private func playLateChannel() async throws {
  let (system, server) = (SimulatedSystem(), Server())
  try system.application.manage("listener", while: .running) {
  } release: { [application = system.application] in
    server.serve(in: application)
  }
  try await system.play("launch; wait:1s; kill")
}
