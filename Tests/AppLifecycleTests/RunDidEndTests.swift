import AppLifecycleTesting
import PubSub
import Scheduling
import Synchronization
import TestTraits
import Testing

@testable import AppLifecycle

/// The event about a loop or body that ends unasked.
@MainActor @Suite(.timeLimit(.hang)) struct `The end of a run that was not asked for` {
  private struct Broken: Error, CustomStringConvertible { var description: String { "broken" } }
  private final class Owner {}

  private let system: SimulatedSystem
  private let owner = Owner()
  private var application: Application { system.application }

  init() {
    var configuration = Application.Configuration()
    (configuration.retry.jitter, configuration.retry.maximumRetries) = (0, 1)
    system = SimulatedSystem(configuration: configuration)
  }

  /// Plays a script, and returns the ends that were posted, as text.
  private func ends(_ script: String) async throws -> [String] {
    var ends: [String] = []
    let subscription = system.bus.subscribe(to: Application.RunDidEnd.self, from: application) { end in
      ends.append("\(end.name)\(end.isBody ? " (body)" : "") \(end.error ?? "returned"): \(end.sequel)")
    }
    try await system.play(script)
    subscription.cancel()
    return ends
  }

  @Test(arguments: [RunEnd.rest, .again, .invalidate, .shutDown(status: 3)], [true, false])
  func `is posted with what follows, for loops`(reaction: RunEnd, throwing: Bool) async throws {
    try application.manage("loop", while: .running, onReturn: reaction, onError: reaction) {
    } run: {
      try await system.clock.sleep(for: .seconds(1))
      if throwing { throw Broken() }
    }
    let what = throwing ? "broken" : "returned"
    let ends = try await ends("launch; wait:1100ms; kill")
    switch reaction {
    case .rest: #expect(ends == (throwing ? ["loop broken: rest"] : []))
    case .again: #expect(ends == ["loop \(what): again(after: 0.25 seconds, failures: 1)"])
    case .invalidate: #expect(ends == ["loop \(what): invalidate"])
    case .shutDown: #expect(ends == ["loop \(what): shutDown(status: 3)"])
    }
  }

  @Test(arguments: [RunEnd.rest, .again, .shutDown(status: 3)], [true, false])
  func `is posted with what follows, for bodies`(reaction: RunEnd, throwing: Bool) async throws {
    application.run(owner, while: .running, onReturn: reaction, onError: reaction, label: "body") { _ in
      try await system.clock.sleep(for: .seconds(1))
      if throwing { throw Broken() }
    }
    let what = throwing ? "broken" : "returned"
    let ends = try await ends("launch; wait:1100ms; kill")
    switch reaction {
    case .rest: #expect(ends == (throwing ? ["body (body) broken: rest"] : []))
    case .again: #expect(ends == ["body (body) \(what): again(after: 0.25 seconds, failures: 1)"])
    default: #expect(ends == ["body (body) \(what): shutDown(status: 3)"])
    }
  }

  @Test func `is posted for an error while the phase closes, and for one that a caller gets`() async throws {
    try application.manage("flush", while: .foreground) {
    } run: {
      try? await system.clock.sleep(for: .seconds(100))
      throw Broken()
    }
    let call = system.clock
    let application = application
    application.task {
      try? await application.run(while: .foreground, label: "call") {
        try await call.sleep(for: .seconds(1))
        throw Broken()
      }
    }
    #expect(
      try await ends("launch; wait:2s; home; wait:1s") == [
        "call (body) broken: throwToCaller", "flush broken: close",
      ])
  }

  /// The reaction to the end decides what follows; a run that was asked to end was to end without an error.
  @Test(arguments: [(1, true), (3, false)])
  func `has a recipient unless the run was asked to end`(seconds: Int, hasRecipient: Bool) async throws {
    let clock = system.clock
    let handler = system.bus.receive(Application.DidEnterBackground.self) { _ in
      try? await clock.sleep(for: .seconds(2))
    }
    application.run(owner, while: .foreground, label: "body") { [self] _ in
      await untilBackground()
      _ = await Task { try? await clock.sleep(for: .seconds(seconds)) }.value
      throw Broken()
    }
    let failures = Mutex<[Bool]>([])
    let subscription = system.bus.subscribe(to: EventBus.HandlerFailure.self) { failure in
      failures.withLock { $0.append(failure.hasRecipient) }
    }
    #expect(try await ends("launch; home; wait:10s") == ["body (body) broken: close"])
    #expect(failures.withLock { $0 } == [hasRecipient])
    withExtendedLifetime((handler, subscription)) {}
  }

  /// Returns when the application has entered the background; the body has not been asked to end yet.
  private func untilBackground() async {
    for await _ in system.bus.events(Application.DidEnterBackground.self) { return }
  }

  @Test(arguments: [(RunEnd.rest, []), (.again, ["client (body) returned: over"])])
  func `is posted where the owner is gone only if another run was to follow`(
    reaction: RunEnd, posted: [String]
  ) async throws {
    application.run(Owner(), while: .running, onReturn: reaction, label: "client") { _ in }
    #expect(try await ends("launch; wait:1s") == posted)
  }

  @Test func `is posted where only the run holds the owner`() async throws {
    application.run(Owner(), while: .running, onError: .shutDown(status: 4), label: "client") { _ in throw Broken() }
    #expect(try await ends("launch; wait:1s") == ["client (body) broken: shutDown(status: 4)"])
    #expect(application.exitStatus == 4)
  }
}

/// Objects that exist for one run have it, also if their phase closes first.
@MainActor @Suite(.timeLimit(.hang)) struct `A run that is owed to its owner` {
  /// A client that counts if it is dropped without having been closed.
  @MainActor private final class Client {
    let log: Log
    private(set) var isClosed = false
    private let end = AsyncStream.makeStream(of: Void.self)

    init(_ log: Log) { self.log = log }

    isolated deinit { if !isClosed { log.dropped += 1 } }

    func serve() async {
      log.served += 1
      for await _ in end.stream {}
      isClosed = true
      log.closed += Task.isCancelled ? 0 : 1
    }

    nonisolated func finish() { end.continuation.finish() }
  }

  @MainActor private final class Log {
    var (served, closed, dropped) = (0, 0, 0)
  }

  private let system = SimulatedSystem()
  private let log = Log()
  private var application: Application { system.application }

  private func serve(_ client: Client) {
    application.run(client, while: .running, label: "client") { client in
      await withPhaseClosingHandler {
        await client.serve()
      } onClose: { [weak client] in
        client?.finish()
      }
    }
  }

  /// An accept loop that goes on for a while after it was asked to end.
  private func accept(for time: Duration) {
    let clock = system.clock
    application.run(log, while: .running, label: "accept") { _ in
      await withPhaseClosingHandler {
        await phaseCloses()
        for _ in 0..<5 {
          serve(Client(log))
          try? await clock.sleep(for: time / 5)
        }
        serve(Client(log))
      } onClose: {
      }
    }
  }

  @Test(arguments: [Duration.zero, .milliseconds(300)])
  func `comes also while the phase closes, asked to end from the beginning`(accepting: Duration) async throws {
    accept(for: accepting)
    try await system.play("launch; wait:1s; kill")
    #expect((log.served, log.closed, log.dropped) == (6, 6, 0))
    #expect(application.exitStatus == 0)
  }

  @Test func `comes where the phase closes before it could begin`() async throws {
    let subscription = system.bus.subscribe(to: Application.WillTerminate.self) { _ in serve(Client(log)) }
    accept(for: .zero)
    try await system.play("launch; kill")
    #expect((log.served, log.closed, log.dropped) == (7, 7, 0))
    withExtendedLifetime(subscription) {}
  }

  /// The acquire has ended, and the task of the body waits for the main actor behind the end of the application.
  @Test func `comes where the phase closes just before the body's task begins`() async throws {
    try await system.play("launch")
    application.task {
      serve(Client(log))
      application.send(.shutDown)
    }
    try await system.play("wait:1s")
    #expect(application.state == .notRunning && application.exitStatus == 0)
    #expect((log.served, log.closed, log.dropped) == (1, 1, 0))
  }

  /// Its phase closes, but handlers still run: an end as asked is no end to react to.
  @Test(arguments: [true, false]) func `ends as asked, whatever it does at an end of its own`(throwing: Bool)
    async throws
  {
    struct Broken: Error {}
    let (clock, bus) = (system.clock, system.bus)
    var ends: [Application.RunDidEnd.Sequel] = []
    var owners: [Client] = []
    let subscriptions = [
      bus.subscribe(to: Application.RunDidEnd.self) { ends.append($0.sequel) },
      bus.receive(Application.WillTerminate.self) { [weak application, log] (_: Application.WillTerminate) async in
        application?.run(
          Client(log), while: .running, onReturn: .shutDown(status: 1), onError: .again, label: "client"
        ) { client in
          owners.append(client)
          client.finish()
          await withPhaseClosingHandler {
            await client.serve()
          } onClose: {
          }
          if throwing { throw Broken() }
        }
        try? await clock.sleep(for: .seconds(1))
      },
    ]
    accept(for: .zero)
    try await system.play("launch; kill")
    #expect(application.exitStatus == 0 && log.dropped == 0 && owners.count == 1)
    #expect(ends == (throwing ? [.close] : []))
    withExtendedLifetime(subscriptions) {}
  }

  @Test func `is cancelled if it does not listen`() async throws {
    let clock = system.clock
    var ends: [String] = []
    application.run(log, while: .running, label: "accept") { [weak application] log in
      await phaseCloses()
      application?.run(Client(log), while: .running, label: "client") { client in
        try? await clock.sleep(for: .seconds(1000))
        ends.append("\(Task.isCancelled) \(clock.now.offset)")
        client.finish()
        await client.serve()
      }
    }
    try await system.play("launch; wait:1s; kill")
    #expect(ends == ["true 1.0 seconds"])
    #expect(application.exitStatus == 0 && log.dropped == 0)
  }

  /// A thread that has handed the client over may still hold it.
  @Test func `comes to an owner that others hold, if the phase closes already`() async throws {
    let held = Client(log)
    application.run(log, while: .running, label: "accept") { _ in
      await phaseCloses()
      serve(held)
    }
    try await system.play("launch; wait:1s; kill")
    #expect((log.served, log.closed, log.dropped) == (1, 1, 0))
  }

  @Test func `comes to an owner that others hold, if the phase closes before its turn`() async throws {
    let held = Client(log)
    try await system.play("launch")
    application.task {
      serve(held)
      application.send(.shutDown)
    }
    try await system.play("wait:1s")
    #expect((log.served, log.closed, log.dropped) == (1, 1, 0) && application.state == .notRunning)
  }

  @Test func `does not come to an owner that others hold in a phase that opens again`() async throws {
    let held = Client(log)
    application.run(log, while: .foreground, label: "accept") { [weak application] _ in
      await phaseCloses()
      application?.run(held, while: .foreground, label: "client") { client in await client.serve() }
    }
    try await system.play("launch; wait:1s; home; wait:1s")
    #expect(log.served == 0)
    try await system.play("open; wait:1s")
    #expect(log.served == 1)
    held.finish()
  }

  /// Its dependency ends with the foreground, and so does the body.
  @Test func `does not come after a dependency whose phase opens again`() async throws {
    let held = Client(log)
    let connection = try application.manage("connection", while: .foreground) {
    } release: {
    }
    try await system.play("launch; wait:1s")
    application.task {
      application.run(held, while: .running, after: connection, label: "client") { client, _ in await client.serve() }
      application.send(.home)
    }
    try await system.play("wait:1s")
    #expect(application.state == .background && log.served == 0)
    held.finish()
  }

  @Test func `comes once to a body that registers itself again`() async throws {
    var runs = 0
    func repeatBody() {
      application.run(log, while: .running, label: "again") { _ in
        runs += 1
        await phaseCloses()
        repeatBody()
      }
    }
    repeatBody()
    try await system.play("launch; wait:1s; kill")
    #expect(runs == 2 && application.exitStatus == 0)
  }

  @Test func `does not come after the bodies have ended`() async throws {
    try application.manage("listener", while: .running) {
    } release: {
      serve(Client(log))
    }
    try await system.play("launch; wait:1s; kill")
    #expect(log.served == 0 && log.dropped == 1)
  }
}
