import AppLifecycle
import AppLifecycleTesting
import HummingbirdStandIn
import LoggingStandIn
import PubSub
import Scheduling
import ServiceLifecycleStandIn
import TestTraits
import Testing
import UnixHost

import class AppLifecycle.Application

// The listings of Sources/AppLifecycle/AppLifecycle.docc/WithSwiftServiceLifecycle.md and of WritingAHost.md, Inside a group of services, word
// for word, with doubles of services. `Logging`, `ServiceLifecycle` and `Hummingbird` are stand-ins.

private let log = Guarded<[String]>([])
private func note(_ line: String) { log.withLock { $0.append(line) } }
private func takeLog() -> [String] {
  log.withLock { lines in
    defer { lines = [] }
    return lines
  }
}

/// Answers the request in flight when it is shut down gracefully, as a server does.
private struct Server: Service {
  func run() async throws {
    note("server runs")
    do {
      try await gracefulShutdown()
      note("server answers the request in flight")
    } catch {
      note("server is cut off")
    }
  }
}

/// A service on which the server depends.
private struct Index: Service {
  func run() async throws {
    note("index runs")
    let (stream, continuation) = AsyncStream.makeStream(of: Never.self)
    await withGracefulShutdownHandler {
      for await _ in stream {}
      note(Task.isCancelled ? "index is cut off" : "index ends")
    } onGracefulShutdown: {
      continuation.finish()
    }
  }
}

/// Ignores everything but its cancellation.
private struct Deaf: Service {
  func run() async throws {
    let (stream, _) = AsyncStream.makeStream(of: Never.self)
    for await _ in stream {}
    note("cut off")
  }
}

private struct Failing: Service {
  struct Failure: Error {}
  func run() async throws { throw Failure() }
}

@MainActor private final class WordServer {}

extension WordServer: ServiceApplicationDelegate {
  func applicationDidFinishLaunching(_ application: Application) {
    do {
      try application.manage(
        "services", while: .running, retry: .failFast()
      ) {
        // A group runs once, so each acquire makes one.
        ServiceGroup(services: [Index(), Server()], logger: Logger(label: "words"))
      } run: { group in
        try await withPhaseClosingHandler {
          try await group.run()
        } shutDown: {
          await group.triggerGracefulShutdown()
        }
      }
    } catch {
      // A mistake in the program, such as two resources of one name.
      preconditionFailure("\(error)")
    }
  }
}

/// An application as a service of a group.
struct ApplicationService: Service {
  let application: Application

  @MainActor func run() async throws {
    let (end, continuation) = AsyncStream.makeStream(of: Never.self)
    let token = application.observe(label: "service group") { event in
      if case .transitionEnded(let report) = event, report.endsProcess {
        continuation.finish()
      }
    }
    defer { token.cancel() }
    await application.handle(.launchInBackground, cause: "service group")
    await withTaskCancellationOrGracefulShutdownHandler {
      for await _ in end {}
    } onCancelOrGracefulShutdown: {
      continuation.finish()
    }
    // Ignored if the application has ended by itself.
    await application.handle(.shutDown, cause: "graceful shutdown")
  }
}

@MainActor private final class EmptyDelegate: ApplicationDelegate {}

/// One after another: the services note what happens in one place.
@MainActor @Suite(.serialized, .timeLimit(.hang)) struct `The samples with groups of services` {
  private func end(_ system: SimulatedSystem) async throws -> [String] {
    _ = takeLog()
    try await system.play("launch:background; wait:1s; kill")
    return takeLog()
  }

  @Test func `drain a group when the phase closes, in reverse order`() async throws {
    let system = SimulatedSystem { WordServer() }
    let lines = try await end(system)
    #expect(Set(lines.prefix(2)) == ["index runs", "server runs"])
    #expect(lines.dropFirst(2) == ["server answers the request in flight", "index ends"])
    #expect(system.application.exitStatus == 0)
    #expect(system.application.ledger.overruns.isEmpty)
  }

  @Test func `end the process with a group that fails`() async throws {
    let system = SimulatedSystem()
    try system.application.manage(
      "services", while: .running, retry: .failFast()
    ) {
      ServiceGroup(services: [Failing(), Server()], logger: Logger(label: "words"))
    } run: { group in
      try await withPhaseClosingHandler {
        try await group.run()
      } shutDown: {
        await group.triggerGracefulShutdown()
      }
    }
    try await system.play("launch:background")
    #expect(system.application.state == .notRunning)
    #expect(system.application.exitStatus == 1)
  }

  @Test func `a bare service is cancelled, not drained`() async throws {
    let system = SimulatedSystem()
    try system.application.manage("server", while: .running) {
      Server()
    } run: { server in
      try await server.run()
    }
    #expect(try await end(system) == ["server runs", "server is cut off"])
    #expect(system.application.exitStatus == 0)
  }

  @Test func `a bare service in an empty handler uses up the budget`() async throws {
    let system = SimulatedSystem()
    try system.application.manage("server", while: .running) {
      Deaf()
    } run: { server in
      try await withPhaseClosingHandler {
        try await server.run()
      } onClose: {
      }
    }
    #expect(try await end(system) == ["cut off"])
    #expect(system.application.ledger.overruns.map(\.culprits) == [["server"]])
    #expect(system.application.exitStatus == 70)
  }

  @Test func `an application is a service of a group`() async throws {
    let application = Application(delegate: EmptyDelegate())
    let launched = OneShot<Bool>()
    let subscription = application.bus.subscribe(to: Application.DidFinishLaunching.self) { _ in launched.settle(true) }
    let group = ServiceGroup(
      services: [ApplicationService(application: application)], logger: Logger(label: "words"))
    async let run: Void = group.run()
    _ = await launched.value
    await group.triggerGracefulShutdown()
    try await run
    withExtendedLifetime(subscription) {}
    #expect(application.state == .notRunning)
  }

  @Test func `an application that ends by itself ends the group`() async throws {
    let application = Application(delegate: EmptyDelegate())
    let subscription = application.bus.subscribe(to: Application.DidFinishLaunching.self) { [weak application] _ in
      application?.shutDown(status: 3)
    }
    let group = ServiceGroup(
      services: [ApplicationService(application: application)], logger: Logger(label: "words"))
    await #expect(throws: ServiceGroupError.serviceFinishedUnexpectedly) { try await group.run() }
    withExtendedLifetime(subscription) {}
    #expect(application.state == .notRunning)
    #expect(application.exitStatus == 3)
  }

  @Test func `a file with two applications means the one that it imports by name`() {
    #expect(Application.self == AppLifecycle.Application.self)
    _ = HummingbirdStandIn.Application()
  }
}
