import Scheduling

// A group with the tasks of the group of swift-service-lifecycle: a child for each service and for each way to end, and an
// actor that starts a task to wake a cancelled waiter.

/// The order to end, which each service of a group gets for itself.
final class GracefulShutdown: Sendable {
  @TaskLocal static var current: GracefulShutdown?

  private struct State {
    var isOrdered = false
    var handlers: [@Sendable () -> Void] = []
  }

  private let state = Guarded(State())

  func order() {
    let handlers = state.withLock { state in
      state.isOrdered = true
      defer { state.handlers = [] }
      return state.handlers
    }
    for handler in handlers { handler() }
  }

  func add(_ handler: @escaping @Sendable () -> Void) {
    let isOrdered = state.withLock { state in
      if !state.isOrdered { state.handlers.append(handler) }
      return state.isOrdered
    }
    if isOrdered { handler() }
  }
}

/// Waits until its task is cancelled or the service must end.
actor ShutdownWaiter {
  private var continuation: CheckedContinuation<Void, Never>?

  func wait() async {
    await withTaskCancellationHandler {
      GracefulShutdown.current?.add { Task { await self.finish() } }
      await withCheckedContinuation { continuation = $0 }
    } onCancel: {
      Task { await self.finish() }
    }
  }

  private func finish() {
    continuation?.resume()
    continuation = nil
  }
}

/// Cancels an operation when the service must end.
func cancelledOnShutdown(_ operation: @escaping @Sendable () async throws -> Void) async {
  await withThrowingTaskGroup(of: Void.self) { group in
    group.addTask { try await operation() }
    group.addTask { await ShutdownWaiter().wait() }
    try? await group.next()
    group.cancelAll()
  }
}

/// Runs services until it is cancelled or told to end; then they end one after the other, the last one first.
actor ServiceGroupDouble {
  private enum Event: Sendable {
    case ended(Int)
    case shutdown, cancelled, nothing
  }

  private let services: [@Sendable () async throws -> Void]
  private let orders = AsyncStream.makeStream(of: Void.self)

  init(_ services: [@Sendable () async throws -> Void]) { self.services = services }

  func triggerGracefulShutdown() {
    orders.continuation.yield()
    orders.continuation.finish()
  }

  func run() async {
    await withTaskGroup(of: Event.self) { group in
      group.addTask { [orders] in
        for await _ in orders.stream { return .shutdown }
        return .nothing
      }
      group.addTask {
        let (stream, _) = AsyncStream.makeStream(of: Void.self)
        for await _ in stream {}
        return .cancelled
      }
      let shutdowns = services.map { _ in GracefulShutdown() }
      for (index, service) in services.enumerated() {
        group.addTask {
          await GracefulShutdown.$current.withValue(shutdowns[index]) { try? await service() }
          return .ended(index)
        }
      }
      var running = Set(services.indices)
      while let event = await group.next() {
        switch event {
        case .ended(let index): running.remove(index)
        case .shutdown:
          for index in services.indices.reversed() where running.contains(index) {
            shutdowns[index].order()
            while running.contains(index), let event = await group.next() {
              if case .ended(let ended) = event { running.remove(ended) }
            }
          }
        case .cancelled, .nothing: break
        }
        if running.isEmpty { group.cancelAll() }
      }
    }
  }
}
