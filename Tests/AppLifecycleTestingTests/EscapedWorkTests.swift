import AppLifecycle
import AppLifecycleTesting
import Dispatch
import Foundation
import PubSub
import TestTraits
import Testing

/// Work that leaves the simulation is named, in every run and under any load.
@Suite(.timeLimit(.hang)) @MainActor struct `Work that escapes from a simulation` {
  private static let file = "AppLifecycleTestingTests/EscapedWorkTests.swift"
  private static let advice = "Write application.task { … } instead of Task { … }."

  /// How a component under test misbehaves, and on which lines of this file.
  enum Mistake: String, CaseIterable, Sendable {
    case task, detached, erasedClock, detachedOnErasedClock, inDelegate, inAsynchronousHandler, fromInit
  }

  @Test(arguments: Mistake.allCases)
  func `is a violation that names the line of the sleep, or of the handler, every time`(mistake: Mistake) async throws {
    var first: EscapedWork?
    for number in 1...repetitions(default: 30) {
      let delegate = CarelessDelegate(mistake)
      let system = SimulatedSystem { delegate }
      delegate.component = Careless(system.application, system.clock, mistake)
      var thrown: EscapedWork?
      do {
        try await system.play("launch; wait:1h; home; wait:1s; open; wait:1h; kill")
      } catch let error as EscapedWork {
        thrown = error
      }
      let escaped = try #require(thrown, "run \(number)")
      first = first ?? escaped
      #expect(escaped == first, "run \(number)")
      // No later than after the action that let it escape, however few threads are free.
      let actions = system.record.filter { $0.kind == .input }.map(\.name)
      #expect(actions == ["launch"], "run \(number)")
      guard escaped == first, actions.count == 1 else { return }
    }
    let violation = try #require(first?.violations.first)
    #expect(first?.violations.count == 1)
    #expect(violation.message.contains(Self.advice))
    switch mistake {
    case .task, .detached: #expect(violation.place == "\(Self.file):\(Careless.sleep)")
    case .inDelegate:
      #expect(violation.place == "\(Self.file):\(Careless.sleep)")
      #expect(violation.message.contains("started by applicationDidBecomeActive"))
    case .erasedClock: #expect(violation.place == "\(Self.file):\(Careless.handler)")
    case .inAsynchronousHandler: #expect(violation.place == "\(Self.file):\(Careless.asynchronousHandler) (careless)")
    case .detachedOnErasedClock, .fromInit: #expect(violation.place == "unknown place")
    }
  }

  @Test func `is named by a wake-up from another thread, with the handler that started it, every time`() async throws {
    var first: EscapedWork?
    for number in 1...repetitions(default: 30) {
      let error = await #expect(throws: EscapedWork.self) {
        try await withSimulation { clock in
          let bus = EventBus(clock: clock)
          let subscription = bus.receive(Ping.self, label: "fetch") { (_: Ping) async in
            let answer = AsyncStream.makeStream(of: Int.self)
            Task { @concurrent in answer.continuation.yield(1) }
            for await _ in answer.stream { break }
          }
          await bus.postAndWait(Ping())
          subscription.cancel()
        }
      }
      let escaped = try #require(error, "run \(number)")
      first = first ?? escaped
      #expect(escaped == first, "run \(number)")
    }
    let violation = try #require(first?.violations.first)
    #expect(violation.place.hasPrefix("\(Self.file):") && violation.place.hasSuffix(" (fetch)"))
    #expect(violation.message.contains("wakes a task inside it"))
  }

  @Test func `A thread that wakes a task inside is a violation, too`() async throws {
    let error = await #expect(throws: EscapedWork.self) {
      try await withSimulation { clock in
        await withUnsafeContinuation { continuation in
          Thread.detachNewThread {
            // Once the main queue has time for this, the task inside is suspended.
            DispatchQueue.main.sync {}
            continuation.resume()
          }
        }
      }
    }
    #expect(error?.violations.first?.place == "unknown place")
    #expect(error?.violations.first?.message.hasPrefix("a thread outside the simulation wakes a task") == true)
  }

  @Test func `Declared work of the real world and the application's own tasks are none`() async throws {
    for _ in 1...repetitions(default: 30) {
      let system = SimulatedSystem()
      let (application, clock) = (system.application, system.clock)
      let counter = Counter()
      application.task(counter, every: .seconds(60)) { $0.count += 1 }
      application.task {
        await clock.external { await Task.detached { await Task.yield() }.value }
        try await application.clock.sleep(for: .seconds(5))
        try await (clock as any Clock<Duration>).sleep(for: .seconds(5))
        Task { counter.count += 100 }
      }
      try await system.play("launch; wait:150s")
      #expect(counter.count == 103)
    }
  }

  @Test func `A violation is thrown once, after the action in which it was found`() async throws {
    let system = SimulatedSystem()
    let clock = system.clock
    let stray = Task { try await clock.sleep(for: .seconds(1)) }
    await #expect(throws: EscapedWork.self) { try await system.play("launch; home; open") }
    #expect(system.record.filter { $0.kind == .input }.map(\.name) == ["launch"])
    try await system.play("home; wait:1s")
    try await stray.value
  }

  @Test func `A clock that is driven by hand says so, too`() async throws {
    let clock = ManualClock()
    let stray = Task { try await clock.sleep(for: .seconds(1)) }
    await #expect(throws: EscapedWork.self) { try await clock.advance(by: .seconds(1)) }
    try await stray.value
    let other = Task { try await clock.sleep(for: .seconds(2)) }
    await #expect(throws: EscapedWork.self) { try await clock.run() }
    try await other.value
    let third = Task { try await clock.sleep(for: .seconds(2)) }
    await #expect(throws: EscapedWork.self) { try await clock.checkForEscapes() }
    third.cancel()
  }
}

private struct Ping: BusEvent {}

@MainActor private final class Counter {
  var count = 0
}

@MainActor private final class CarelessDelegate {
  private let mistake: `Work that escapes from a simulation`.Mistake
  var component: Careless?

  init(_ mistake: `Work that escapes from a simulation`.Mistake) { self.mistake = mistake }
}

extension CarelessDelegate: ApplicationDelegate {
  func applicationDidBecomeActive(_ application: Application) {
    if mistake == .inDelegate { component?.poll() }
  }
}

/// A component that starts its work outside of the simulation.
@MainActor private final class Careless {
  static let sleep: Int = #line + 25
  static let handler: Int = #line + 7
  static let asynchronousHandler: Int = #line + 10
  private let clock: ApplicationClock
  private let erased: any Clock<Duration>

  init(_ application: Application, _ clock: ManualClock, _ mistake: `Work that escapes from a simulation`.Mistake) {
    (self.clock, erased) = (application.clock, clock)
    application.bus.subscribe(to: Application.DidBecomeActive.self, for: self) { careless, _ in
      careless.start(mistake)
    }
    if mistake == .inAsynchronousHandler {
      application.bus.receive(Application.DidBecomeActive.self, for: self, label: "careless") { careless, _ async in
        careless.pollOnErasedClock()
      }
    }
    if mistake == .fromInit { pollOnErasedClock() }
  }

  /// A plain task on the main actor, as components start them.
  func poll() {
    Task { try await wait() }
  }

  nonisolated(nonsending) func wait() async throws {
    try await clock.sleep(for: .seconds(60))
  }

  func pollOnErasedClock() {
    Task { [erased] in try await erased.sleep(for: .seconds(60)) }
  }

  private func start(_ mistake: `Work that escapes from a simulation`.Mistake) {
    switch mistake {
    case .task: poll()
    case .detached: Task.detached { try await self.wait() }
    case .erasedClock: pollOnErasedClock()
    case .detachedOnErasedClock: Task.detached { [erased] in try await erased.sleep(for: .seconds(60)) }
    case .inDelegate, .inAsynchronousHandler, .fromInit: break
    }
  }
}
