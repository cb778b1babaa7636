import AppLifecycle
import AppLifecycleTesting
import Dispatch
import Foundation
import PubSub
import Scheduling
import TestTraits
import Testing

/// Work that a simulation cannot hold is named, in every run and under any load; all other work is held.
@Suite(.timeLimit(.hang)) @MainActor struct `Work that escapes from a simulation` {
  private static let file = "AppLifecycleTestingTests/EscapedWorkTests.swift"
  private static let testsTask = """
    The test's own code started it, or code that the test called. Write application.task { … } instead of Task { … }.
    """

  /// How a component starts work, other than by `application.task`.
  enum Start: String, CaseIterable, Sendable {
    case task, immediate, detached, erasedClock, detachedOnErasedClock
    case inDelegate, inAsynchronousHandler, whenDelegateIsMade
  }

  @Test(arguments: Start.allCases)
  func `is none that a component starts in the simulation, every time`(start: Start) async throws {
    var first: [LifecycleRecord]?
    for number in 1...repetitions(default: 30) {
      let clocks = Clocks()
      let system = SimulatedSystem { CarelessDelegate(start, clocks) }
      (clocks.application, clocks.erased) = (system.application.clock, system.clock)
      let record = try await system.play("launch; wait:90s; home; wait:1s; open; wait:90s; kill")
      first = first ?? record
      #expect(record == first, "run \(number)")
      #expect(clocks.minutes == (start == .whenDelegateIsMade ? 1 : 2), "run \(number)")
      #expect(system.clock.executor.foreignWakeUps == 0)
      guard record == first else { return }
    }
  }

  /// How the test itself starts work.
  enum OwnStart: String, CaseIterable, Sendable {
    case task, detached, erasedClock, detachedOnErasedClock
  }

  @Test(arguments: OwnStart.allCases)
  func `is a task of the test's own that sleeps on the clock, with its line, every time`(start: OwnStart) async throws {
    for number in 1...repetitions(default: 30) {
      let system = SimulatedSystem()
      let clocks = Clocks()
      (clocks.application, clocks.erased) = (system.application.clock, system.clock)
      let component = Careless(clocks)
      switch start {
      case .task: component.poll()
      case .detached: Task.detached { try await component.wait() }
      case .erasedClock: component.pollOnErasedClock()
      case .detachedOnErasedClock: component.pollDetachedOnErasedClock()
      }
      let error = await #expect(throws: EscapedWork.self) { try await system.play("launch; home") }
      let violations = try #require(error, "run \(number)").violations
      #expect(violations.count == 1)
      let hasLine = start == .task || start == .detached
      #expect(violations[0].place == (hasLine ? "\(Self.file):\(Careless.sleep)" : "unknown place"))
      #expect(violations[0].message.contains(Self.testsTask))
      // No later than after the first action, however few threads are free.
      #expect(system.record.filter { $0.kind == .input }.map(\.name) == ["launch"], "run \(number)")
      guard error?.violations.count == 1 else { return }
    }
  }

  @Test func `is a task of the test's own that wakes a task inside, every time`() async throws {
    for number in 1...repetitions(default: 30) {
      let system = SimulatedSystem()
      let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
      system.application.task { for await _ in stream {} }
      await system.clock.settle()
      Task { @concurrent in
        await mainQueue()  // from now on the simulation is driven
        continuation.yield(1)
      }
      let error = await #expect(throws: EscapedWork.self) { try await system.play("launch") }
      let violations = try #require(error, "run \(number)").violations
      #expect(violations.map(\.place) == ["unknown place"])
      #expect(
        violations[0].message == "a task outside the simulation wakes a task inside it. \(Self.testsTask)")
    }
  }

  @Test func `is a thread that wakes a task inside, every time`() async throws {
    for number in 1...repetitions(default: 30) {
      let error = await #expect(throws: EscapedWork.self, "run \(number)") {
        try await withSimulation { _ in
          // In a task of the test, and in one of a library, on an actor.
          if number.isMultiple(of: 2) { await answerOfThread() } else { await Task { await Client().ask() }.value }
        }
      }
      let violations = try #require(error, "run \(number)").violations
      #expect(violations.map(\.place) == ["unknown place"])
      #expect(violations[0].message.hasPrefix("a thread outside the simulation wakes a task inside it: "))
      #expect(violations[0].message.contains("application.external { … }"))
    }
  }

  @Test func `is none in external work, every time`() async throws {
    for number in 1...repetitions(default: 30) {
      let system = SimulatedSystem()
      let application = system.application
      let (clock, ended) = (application.clock, Trace())
      application.task {
        // A task of a library, which prefers no executor.
        let library = Task.detached {
          await Client().ask(application)
          ended.write("library at \(clock.now.offset)")
        }
        await declaredAnswer(application)
        ended.write("task at \(clock.now.offset)")
        await library.value
      }
      try await system.play("launch; wait:1s")
      #expect(ended.lines == ["task at 0.0 seconds", "library at 0.0 seconds"], "run \(number)")
      #expect(system.clock.executor.foreignWakeUps == 0)
    }
  }

  #if os(Linux) && compiler(>=6.3) && compiler(<6.4)
    @Test func `is a sleep on a real clock, every time, with the handler in which it began`() async throws {
      for number in 1...repetitions(default: 30) {
        let system = SimulatedSystem()
        let line = #line + 1
        let subscription = system.bus.receive(Application.DidBecomeActive.self, label: "poll") { _ async in
          _ = Task { try await Task.sleep(for: .seconds(number.isMultiple(of: 2) ? 3600 : 0.001)) }
        }
        let error = await #expect(throws: EscapedWork.self, "run \(number)") { try await system.play("launch; home") }
        let violations = try #require(error).violations
        #expect(violations.map(\.place) == ["\(Self.file):\(line) (poll)"])
        #expect(violations[0].message.hasPrefix("a task inside the simulation, started here, sleeps on a real clock"))
        #expect(system.record.filter { $0.kind == .input }.map(\.name) == ["launch"])
        try await system.play("home; wait:1m")
        subscription.cancel()
      }
    }

    @Test func `is no real sleep in external work`() async throws {
      let system = SimulatedSystem()
      let application = system.application
      application.task { try await application.external { try await Task.sleep(for: .milliseconds(1)) } }
      try await system.play("launch; wait:1s")
    }
  #endif

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

/// Waits for a thread that answers when the main queue has had time, so that the caller is suspended by then.
private func answerOfThread() async {
  await withUnsafeContinuation { continuation in
    Thread.detachNewThread {
      DispatchQueue.main.sync {}
      continuation.resume()
    }
  }
}

/// Waits until the main queue has had time, on the thread of the caller.
private func mainQueue() async { await withUnsafeContinuation { done in DispatchQueue.main.async { done.resume() } } }

@concurrent private func declaredAnswer(_ application: Application) async {
  await application.external { await answerOfThread() }
}

/// A client with threads of its own.
private actor Client {
  func ask() async { await answerOfThread() }

  func ask(_ application: Application) async { await application.external { await answerOfThread() } }
}

@MainActor private final class Counter {
  var count = 0
}

/// The clocks of a system, which a delegate may need before the system knows them.
@MainActor private final class Clocks {
  var application: ApplicationClock!
  var erased: (any Clock<Duration>)!
  /// The number of sleeps of a minute that have ended.
  var minutes = 0
}

@MainActor private final class CarelessDelegate {
  private let start: `Work that escapes from a simulation`.Start
  private let component: Careless

  init(_ start: `Work that escapes from a simulation`.Start, _ clocks: Clocks) {
    (self.start, component) = (start, Careless(clocks))
    if start == .whenDelegateIsMade { component.poll() }
  }
}

extension CarelessDelegate: ApplicationDelegate {
  func applicationDidFinishLaunching(_ application: Application) {
    application.bus.subscribe(to: Application.DidBecomeActive.self, for: component) { [start] component, _ in
      switch start {
      case .task: component.poll()
      case .immediate: component.pollImmediately()
      case .detached: Task.detached { try await component.wait() }
      case .erasedClock: component.pollOnErasedClock()
      case .detachedOnErasedClock: component.pollDetachedOnErasedClock()
      case .inDelegate, .inAsynchronousHandler, .whenDelegateIsMade: break
      }
    }
    guard start == .inAsynchronousHandler else { return }
    application.bus.receive(Application.DidBecomeActive.self, for: component) { component, _ async in
      component.pollOnErasedClock()
    }
  }

  func applicationDidBecomeActive(_ application: Application) {
    if start == .inDelegate { component.poll() }
  }
}

/// A component that starts its work with plain tasks.
@MainActor private final class Careless {
  static let sleep = #line + 17
  private let clocks: Clocks

  init(_ clocks: Clocks) { self.clocks = clocks }

  /// A plain task on the main actor, as components start them.
  func poll() {
    Task { try await wait() }
  }

  func pollImmediately() {
    guard #available(macOS 26, iOS 26, tvOS 26, visionOS 26, *) else { return poll() }
    Task.immediate { try await wait() }
  }

  nonisolated(nonsending) func wait() async throws {
    let clock = await clocks.application!
    try await clock.sleep(for: .seconds(60))
    await count()
  }

  func pollOnErasedClock() {
    Task {
      try await clocks.erased.sleep(for: .seconds(60))
      count()
    }
  }

  func pollDetachedOnErasedClock() {
    Task.detached { [erased = clocks.erased!] in
      try await erased.sleep(for: .seconds(60))
      await self.count()
    }
  }

  private func count() { clocks.minutes += 1 }
}
