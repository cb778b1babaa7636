import AppLifecycle
import Dispatch
import PubSub
import Scheduling
import TestTraits
import Testing

@testable import AppLifecycleTesting

/// A test may read the state of an actor between two steps of its simulation.
///
/// The thread that reads may still hold the actor when the test goes on. Here it does so for as long as the test says: one
/// thread at a time, because two would leave no thread for the main queue where there are two processors.
@Suite(.timeLimit(.hang), .serialized) @MainActor struct `An actor that a test reads` {
  private struct Price: BusEvent {}

  private actor Store {
    private(set) var prices = 0

    init(_ bus: EventBus) { bus.receive(Price.self, for: self) { store, _ in store.prices += 1 } }

    func read(_ body: @Sendable () -> Void) { body() }
  }

  /// Keeps a thread where it is.
  private final class Gate: Sendable {
    private let state = Guarded(true)

    var isClosed: Bool { state.withLock { $0 } }

    /// Opens after so many passes through the main queue.
    func open(after passes: Int) {
      guard passes > 0 else { return state.withLock { $0 = false } }
      DispatchQueue.main.async { self.open(after: passes - 1) }
    }
  }

  private let system = SimulatedSystem()

  /// Begins to read the store on another thread, which lets go of it after some passes through the main queue: more than a simulation
  /// makes before it takes itself for idle.
  private func beginReading(_ store: Store) async {
    let gate = Gate()
    let began = AsyncStream.makeStream(of: Void.self)
    Task {
      await store.read {
        began.continuation.yield()
        while gate.isClosed {}
      }
    }
    // On the main actor, because on one processor that thread is the only one of the pool.
    await TaskStarter().waitOnMainActor { for await _ in began.stream { break } }
    gate.open(after: 40)
  }

  @Test func `is no work that escapes when the clock is driven next`() async throws {
    let store = Store(system.bus)
    for number in 1...5 {
      await beginReading(store)
      system.bus.post(Price())
      try await OutsideWork.$patience.withValue(.seconds(3600)) {
        await system.clock.settle()
        try await system.clock.checkForEscapes()
      }
      #expect(await store.prices == number)
    }
    #expect(system.clock.executor.foreignWakeUps == 0)
  }

  @Test func `is no work that escapes when a script is played next`() async throws {
    let store = Store(system.bus)
    let subscription = system.bus.subscribe(to: Application.DidBecomeActive.self) { [bus = system.bus] _ in
      bus.post(Price())
    }
    try await system.play("launch; home")
    for number in 2...5 {
      await beginReading(store)
      try await OutsideWork.$patience.withValue(.seconds(3600)) { _ = try await system.play("open; home") }
      #expect(await store.prices == number)
    }
    #expect(system.clock.executor.foreignWakeUps == 0)
    withExtendedLifetime(subscription) {}
  }
}
