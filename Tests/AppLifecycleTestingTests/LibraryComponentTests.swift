import AppLifecycle
import AppLifecycleTesting
import PubSub
import Scheduling
import TestTraits
import Testing

/// What a library starts belongs to the simulation, in every run and under any load.
@MainActor @Suite(.timeLimit(.hang)) struct `A component with a library` {
  enum Library: String, CaseIterable, Sendable {
    case debounce, merge, buffer, serviceGroup
  }

  private struct Run: Equatable {
    var json: String
    var notes: [String]
    var foreignWakeUps: Int
  }

  @Test(arguments: Library.allCases)
  func `has the same record byte for byte in every run, without a report`(_ library: Library) async throws {
    let first = try await run(library)
    #expect(first.foreignWakeUps == 0)
    #expect(Set(first.notes) == Self.expected(library))
    for number in 2...max(2, repetitions(default: 50)) {
      let next = try await run(library)
      guard next == first else {
        Issue.record("run \(number) differs: \(next.notes.difference(from: first.notes))")
        return
      }
    }
  }

  @Test func `has an order of its own for each seed, every time`() async throws {
    for seed in UInt64(0)..<5 {
      for library in Library.allCases {
        let first = try await run(library, order: .seeded(seed))
        let second = try await run(library, order: .seeded(seed))
        #expect(first == second && first.foreignWakeUps == 0, "\(library), seed \(seed)")
      }
    }
  }

  @Test func `disturbs no other simulation beside it`() async throws {
    var alone: [Library: Run] = [:]
    for library in Library.allCases { alone[library] = try await run(library) }
    let tasks = (0..<40).map { number in
      let library = Library.allCases[number % Library.allCases.count]
      return (library, Task { try await run(library) })
    }
    for (library, task) in tasks { #expect(try await task.value == alone[library]) }
  }

  private func run(_ library: Library, order: SimulationExecutor.Order = .fifo) async throws -> Run {
    let keyboard = Keyboard()
    let notes = Notes()
    let system = SimulatedSystem(order: order) { LibraryDelegate(library, keyboard, notes) }
    system.addAction("type") { keyboard.type() }
    try await system.play(
      "launch; do:type; wait:100ms; do:type; wait:1s; do:type; wait:250ms; home; wait:1s; do:type; open; wait:1s; kill")
    return Run(json: system.record.jsonLines, notes: notes.lines, foreignWakeUps: system.clock.executor.foreignWakeUps)
  }

  /// The notes of a run, without their order at one instant.
  private static func expected(_ library: Library) -> Set<String> {
    let keys: [String]
    switch library {
    case .debounce: keys = ["400 ms 2", "1400 ms 3", "2650 ms 4"]
    case .merge, .buffer: keys = ["0 ms 1", "100 ms 2", "1100 ms 3", "2350 ms 4"]
    case .serviceGroup: return services
    }
    let heard = ["plain", "owned", "detached"].flatMap { name in keys.map { "\($0) \(name)" } }
    return Set(heard + ["1350 ms saved", "3350 ms saved", "3350 ms owned ended"])
  }

  /// What the services do in two stays in the foreground.
  ///
  /// Those of a cancelled group end at once. Those of a group that ends in order end one after the other, the last one
  /// first, and the way to the background takes that long.
  private static let services = Set(
    [(began: 0, worked: 800, left: 1350), (began: 2450, worked: 3250, left: 3450)].flatMap { stay in
      ["cancelled 1", "cancelled 2", "drained 1", "drained 2"].flatMap { service in
        let length = service == "drained 2" ? 50 : service == "drained 1" ? 100 : 0
        return [
          "\(stay.began) ms \(service) begins", "\(stay.worked) ms \(service) works",
          "\(stay.left + length) ms \(service) ends",
        ]
      }
    })
}

/// Keys that the user presses, for any number of listeners.
@MainActor private final class Keyboard {
  private var listeners: [AsyncStream<Int>.Continuation] = []
  private var keys = 0

  func listen() -> AsyncStream<Int> {
    let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
    listeners.append(continuation)
    return stream
  }

  func type() {
    keys += 1
    for listener in listeners { listener.yield(keys) }
  }
}

@MainActor private final class Notes {
  private(set) var lines: [String] = []
  var clock: ApplicationClock?

  func write(_ line: String) {
    let time = clock.map { Int($0.now.offset / .milliseconds(1)) } ?? 0
    lines.append("\(time) ms \(line)")
  }
}

/// A program that uses a library in the tasks that programs start.
@MainActor private final class LibraryDelegate {
  private let library: `A component with a library`.Library
  private let keyboard: Keyboard
  private let notes: Notes

  init(_ library: `A component with a library`.Library, _ keyboard: Keyboard, _ notes: Notes) {
    (self.library, self.keyboard, self.notes) = (library, keyboard, notes)
  }
}

extension LibraryDelegate: ApplicationDelegate {
  func applicationDidFinishLaunching(_ application: Application) {
    notes.clock = application.clock
    guard library != .serviceGroup else { return runServices(application) }
    let plain = makeOperator(application.clock)
    Task { await follow(plain, "plain") }
    let owned = makeOperator(application.clock)
    application.task { await self.follow(owned, "owned") }
    let detached = makeOperator(application.clock)
    Task.detached { while let key = await detached.next() { await self.notes.write("\(key) detached") } }
    application.bus.receive(Application.DidEnterBackground.self, for: self) { delegate, _ async in
      await Task { delegate.notes.write("saved") }.value
    }
  }

  private func follow(_ source: any LibraryOperator, _ name: String) async {
    while let key = await source.next() { notes.write("\(key) \(name)") }
    notes.write("\(name) ended")
  }

  private func makeOperator(_ clock: ApplicationClock) -> any LibraryOperator {
    switch library {
    case .debounce: DebounceDouble(keyboard.listen(), for: .milliseconds(300), clock: clock)
    case .merge: MergeDouble(keyboard.listen(), keyboard.listen())
    case .buffer, .serviceGroup: BufferDouble(keyboard.listen(), limit: 2)
    }
  }

  /// Groups that run in the foreground, and are made again for each stay there.
  private func runServices(_ application: Application) {
    let (clock, notes) = (application.clock, notes)
    application.run(self, while: .foreground, label: "cancelled") { _ in
      await Self.services("cancelled", clock, notes).run()
    }
    application.run(self, while: .foreground, label: "drained") { _ in
      let group = Self.services("drained", clock, notes)
      let run = Task { await group.run() }
      await withTaskCancellationHandler {
        await run.value
      } onCancel: {
        Task { await group.triggerGracefulShutdown() }
      }
    }
  }

  private static func services(_ group: String, _ clock: ApplicationClock, _ notes: Notes) -> ServiceGroupDouble {
    ServiceGroupDouble(
      ["\(group) 1", "\(group) 2"].map { name in
        {
          await notes.write("\(name) begins")
          await cancelledOnShutdown {
            while true {
              try await clock.sleep(for: .milliseconds(800))
              await notes.write("\(name) works")
            }
          }
          try? await clock.sleep(for: .milliseconds(50))
          await notes.write("\(name) ends")
        }
      })
  }
}
