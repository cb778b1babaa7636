import AppLifecycle
import AppLifecycleTesting
import PubSub
import Synchronization
import Testing
import UnixHost

// Doubles around the listing in LineServer.swift, and the other listings of that section, word for word.

@MainActor private var log: [String] = []
@MainActor private var listening: Listener?
@MainActor private var clock: (any Clock<Duration>)?

/// A socket that listens: its clients are those that a test connects.
final class Listener: Sendable {
  let clients: AsyncStream<LineClient>
  private let continuation: AsyncStream<LineClient>.Continuation

  @MainActor init(port: Int) throws {
    (clients, continuation) = AsyncStream.makeStream(of: LineClient.self)
    listening = self
  }

  @MainActor convenience init(descriptor: Int32) throws { try self.init(port: 0) }

  func connect(_ client: LineClient) { continuation.yield(client) }
  func stop() { continuation.finish() }
  @MainActor func close() { log.append("the listener is closed") }
}

private struct NetworkIsGone: Error {}

/// A client whose line takes some time.
final class LineClient: Sendable {
  let name: String
  private let length: Duration
  private let isFinishing = Atomic(false)

  init(_ name: String, _ length: Duration) { (self.name, self.length) = (name, length) }

  func serve() async {
    repeat {
      try? await clock?.sleep(for: length)
      await MainActor.run { log.append("\(name) is answered") }
    } while !isFinishing.load(ordering: .relaxed) && !Task.isCancelled
  }

  func finishLine() { isFinishing.store(true, ordering: .relaxed) }
}

extension LineClient {
  /// Serves until the client has ended, or the phase has been closed for this long.
  ///
  /// - Returns: whether the client has ended by itself.
  func serve(atMost limit: Duration, on clock: ApplicationClock) async -> Bool {
    await withTaskGroup(of: Bool.self) { group in
      group.addTask {
        await self.serve()
        return true
      }
      group.addTask {
        await phaseCloses()
        try? await clock.sleep(for: limit)
        return false
      }
      defer { group.cancelAll() }
      return await group.next()!
    }
  }
}

/// The listing on socket activation.
@MainActor private func manageListener(of application: Application) throws -> ManagedResource<Listener> {
  let listener = try application.manage("listener", while: .running) {
    if let socket = ActivationSocket.all.first {
      try Listener(descriptor: socket.duplicate())
    } else {
      try Listener(port: 7000)
    }
  } release: {
    $0.close()
  }
  return listener
}

@Suite(.serialized) @MainActor struct `The server of the page on services` {
  @Test func `opens a socket of its own without a manager`() async throws {
    listening = nil
    defer { listening = nil }
    let system = SimulatedSystem()
    let listener = try manageListener(of: system.application)
    try await system.play("launch:background; wait:1s")
    #expect(listener.current === listening && listening != nil)
  }

  @Test func `answers the line of each client, and names the client that takes too long`() async throws {
    (log, listening) = ([], nil)
    let system = SimulatedSystem { LineServer() }
    clock = system.clock
    defer { (clock, listening) = (nil, nil) }
    try await system.play("launch:background; wait:1s")
    let listener = try #require(listening)
    listener.connect(LineClient("quick", .milliseconds(200)))
    listener.connect(LineClient("slow", .seconds(60)))
    try await system.play("wait:300ms; kill")
    #expect(log.prefix(2) == ["quick is answered", "quick is answered"])
    #expect(system.application.ledger.overruns.map(\.culprits) == [["client slow"]])
  }

  @Test func `ends its clients before a broken listener is closed`() async throws {
    (log, listening) = ([], nil)
    let server = LineServer()
    let system = SimulatedSystem { server }
    clock = system.clock
    defer { (clock, listening) = (nil, nil) }
    try await system.play("launch:background; wait:1s")
    try #require(listening).connect(LineClient("client", .seconds(2)))
    try await system.play("wait:1s")
    server.listener?.invalidate(because: NetworkIsGone())
    try await system.play("wait:2s")
    #expect(log == ["client is answered", "the listener is closed"])
  }

  @Test(arguments: [(1, true), (60, false)])
  func `a client has a deadline of its own after the phase has closed`(seconds: Int, endsItself: Bool) async throws {
    log = []
    let system = SimulatedSystem()
    clock = system.clock
    defer { clock = nil }
    let application = system.application
    let client = LineClient("client", .seconds(seconds))
    var ended: (byItself: Bool, at: Duration)?
    application.run(client, while: .running) { client in
      let byItself = await withPhaseClosingHandler {
        await client.serve(atMost: .seconds(2), on: application.clock)
      } onClose: {
        client.finishLine()
      }
      ended = (byItself, system.clock.now.offset)
      if !byItself { application.shutDown(status: 1) }
    }
    try await system.play("launch:background; mode:begin:service; wait:10500ms; kill")
    let at: Duration = endsItself ? .seconds(11) : .milliseconds(12_500)
    #expect(ended?.byItself == endsItself && ended?.at == at)
    #expect(application.ledger.overruns.isEmpty && application.exitStatus == (endsItself ? 0 : 1))
  }
}
