package import LoggingStandIn
import Scheduling

// As much of swift-service-lifecycle's `ServiceLifecycle` as the documentation's listings use: names, labels, isolation and results as in
// swift-service-lifecycle 2.11.0, of which they were read. Not the library: a group has no signals and no time limits.

/// A long-running piece of work.
package protocol Service: Sendable {
  func run() async throws
}

package struct UnixSignal: Hashable, Sendable {
  package static let sigterm = UnixSignal()
}

package enum ServiceGroupError: Error, Equatable {
  case alreadyRunning
  case alreadyFinished
  case serviceFinishedUnexpectedly
}

/// Runs services side by side until one ends, or until they are shut down: one after another, the last one first.
package actor ServiceGroup: Service {
  private enum State { case initial, running, finished }

  private let services: [any Service]
  private let shutdown = AsyncStream.makeStream(of: Void.self)
  private var state = State.initial

  package init(
    services: [any Service], gracefulShutdownSignals: [UnixSignal] = [], cancellationSignals: [UnixSignal] = [],
    logger: Logger
  ) { self.services = services }

  package func run() async throws {
    switch state {
    case .initial: state = .running
    case .running: throw ServiceGroupError.alreadyRunning
    case .finished: throw ServiceGroupError.alreadyFinished
    }
    defer { state = .finished }
    try await runServices()
  }

  package func triggerGracefulShutdown() {
    if state == .initial { state = .finished }
    shutdown.continuation.finish()
  }

  private nonisolated func runServices() async throws {
    let managers = services.map { _ in GracefulShutdownManager() }
    try await withThrowingTaskGroup(of: Int?.self) { group in
      for (index, service) in services.enumerated() {
        group.addTask {
          try await GracefulShutdownManager.$current.withValue(managers[index]) { try await service.run() }
          return index
        }
      }
      group.addTask {
        for await _ in self.shutdown.stream {}
        return nil
      }
      defer { group.cancelAll() }
      // The first task to end is that of the shutdown, or that of a service.
      guard try await group.next() == .some(nil), !Task.isCancelled else {
        throw ServiceGroupError.serviceFinishedUnexpectedly
      }
      var running = Set(services.indices)
      for index in services.indices.reversed() {
        managers[index].shutDown()
        while running.contains(index), case .some(.some(let ended)) = try await group.next() { running.remove(ended) }
      }
    }
  }
}

/// The request to a service to end.
private final class GracefulShutdownManager: Sendable {
  @TaskLocal static var current: GracefulShutdownManager?

  private let state = Guarded<(isShuttingDown: Bool, handlers: [@Sendable () -> Void])>((false, []))

  func add(_ handler: @escaping @Sendable () -> Void) {
    let isShuttingDown = state.withLock { state in
      if !state.isShuttingDown { state.handlers.append(handler) }
      return state.isShuttingDown
    }
    if isShuttingDown { handler() }
  }

  func shutDown() {
    let handlers = state.withLock { state in
      state.isShuttingDown = true
      defer { state.handlers = [] }
      return state.handlers
    }
    for handler in handlers { handler() }
  }
}

/// Runs an operation; a group that shuts down calls the handler.
///
/// Outside a group nothing calls it.
package func withGracefulShutdownHandler<T>(
  isolation: isolated (any Actor)? = #isolation, operation: () async throws -> T,
  onGracefulShutdown handler: @Sendable @escaping () -> Void
) async rethrows -> T {
  GracefulShutdownManager.current?.add(handler)
  return try await operation()
}

/// Runs an operation; a group that shuts down calls the handler, and so does a cancellation.
package func withTaskCancellationOrGracefulShutdownHandler<T>(
  isolation: isolated (any Actor)? = #isolation, operation: () async throws -> T,
  onCancelOrGracefulShutdown handler: @Sendable @escaping () -> Void
) async rethrows -> T {
  try await withTaskCancellationHandler {
    try await withGracefulShutdownHandler(isolation: isolation, operation: operation, onGracefulShutdown: handler)
  } onCancel: {
    handler()
  }
}

/// Waits until the group shuts the service down; outside a group, until the task is cancelled.
package func gracefulShutdown() async throws {
  let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
  await withGracefulShutdownHandler {
    for await _ in stream {}
  } onGracefulShutdown: {
    continuation.finish()
  }
  try Task.checkCancellation()
}
