import AppLifecycleTesting
import Foundation
import PubSub
import Scheduling
import TestTraits
import Testing

@testable import AppLifecycle

/// Background tasks that other threads begin and end while the main actor runs transitions.
@Suite(.timeLimit(.hang)) @MainActor struct `Background tasks on any thread` {
  @MainActor private final class Bare: ApplicationDelegate {}

  /// What an application tells of its tasks.
  @MainActor private final class Log {
    private(set) var lines: [String] = []
    private var token: ObserverToken?

    init(_ application: Application) {
      token = application.observe { [unowned self] event in
        switch event {
        case .callBegan(let call) where call.kind == .task: lines.append("began \(call.name)")
        case .callEnded(let entry, let call) where entry.kind == .task:
          lines.append("ended \(entry.name)\(call == nil ? " without a beginning" : "")")
        case .recorded(let record) where [.task, .report].contains(record.kind): lines.append(record.name)
        default: break
        }
      }
    }
  }

  /// Runs bodies on threads of their own, and blocks the main actor until they have returned.
  private func onThreads(_ bodies: [@Sendable () -> Void]) {
    let done = DispatchSemaphore(value: 0)
    for body in bodies {
      Thread {
        body()
        done.signal()
      }.start()
    }
    for _ in bodies { done.wait() }
  }

  /// Returns after the main actor has done what was queued on it before.
  private func turn() async { await Task.detached { @MainActor in }.value }

  private func launched() async -> (Application, Log) {
    let application = Application(delegate: Bare())
    await application.handle(.launch)
    return (application, Log(application))
  }

  // MARK: One thread

  @Test func `begin and end at once, and the main actor learns later, in order`() async throws {
    let (application, log) = await launched()
    onThreads([
      {
        let tasks = ["a", "b"].map { application.beginBackgroundTask(named: $0) }
        #expect(tasks.map(\.wasRefused) == [false, false])
        #expect(application.openBackgroundTasks == ["a", "b"])
        #expect(application.remainingBackgroundTime == nil)
        tasks[1].end()
        #expect(application.openBackgroundTasks == ["a"])
        tasks[0].end()
        tasks[0].end()
      }
    ])
    #expect(log.lines == [], "the main actor had no turn")
    await turn()
    #expect(log.lines == ["began a", "began b", "ended b", "ended a", "taskEndedTwice:a"])
  }

  @Test func `a call on the main actor tells what threads have done before it`() async throws {
    let (application, log) = await launched()
    onThreads([{ application.beginBackgroundTask(named: "thread").end() }])
    application.beginBackgroundTask(named: "main").end()
    #expect(log.lines == ["began thread", "ended thread", "began main", "ended main"])
  }

  @Test func `an observer that begins one is told of it after the present one`() async throws {
    let (application, log) = await launched()
    let token = application.observe { event in
      if case .callBegan(let call) = event, call.name == "thread" {
        application.beginBackgroundTask(named: "nested").end()
      }
    }
    onThreads([{ application.beginBackgroundTask(named: "thread").end() }])
    await turn()
    #expect(log.lines == ["began thread", "ended thread", "began nested", "ended nested"])
    #expect(application.openCalls.isEmpty)
    token.cancel()
  }

  @Test func `two threads that end a task end it once`() async throws {
    let (application, log) = await launched()
    for _ in 0..<200 {
      let task = application.beginBackgroundTask(named: "save")
      onThreads([{ task.end() }, { task.end() }])
    }
    await turn()
    #expect(log.lines.count { $0 == "ended save" } == 200)
    #expect(log.lines.count { $0 == "taskEndedTwice:save" } == 200)
  }

  @Test func `tasks are refused before the launch and after the end, and ending them has no effect`() async throws {
    let application = Application(delegate: Bare())
    let log = Log(application)
    let handlers = Shared(0)
    let begin: @Sendable () -> Void = {
      let task = application.beginBackgroundTask(named: "none") { _ in handlers.value.withLock { $0 += 1 } }
      #expect(task.wasRefused)
    }
    onThreads([begin])
    await turn()
    await application.handle(.launch)
    let open = application.beginBackgroundTask(named: "open") { _ in Issue.record("expired") }
    await application.handle(LifecycleInput.device(.purge))
    onThreads([begin, { open.end() }, { open.end() }])
    await turn()
    #expect(handlers.value.withLock { $0 } == 2)
    #expect(log.lines.suffix(2) == ["began open", "ended open"], "nothing is reported without a process")
  }

  @Test func `an operation begins on the main actor, and its task is open before`() async throws {
    let (application, log) = await launched()
    let operation = Shared<Task<Void, Never>?>(nil)
    onThreads([
      {
        let task = application.performBackgroundTask(named: "save") { MainActor.assertIsolated() }
        operation.value.withLock { $0 = task }
        #expect(application.openBackgroundTasks == ["save"])
      }
    ])
    await operation.value.withLock { $0 }?.value
    #expect(log.lines == ["began save", "ended save"])
    #expect(application.openBackgroundTasks == [])
  }

  @Test func `an operation whose process has ended before it begins runs cancelled`() async throws {
    let application = Application(delegate: Bare(), clock: StillClock())
    await application.handle(.launch)
    let wasCancelled = Shared<Bool?>(nil)
    let operation = BackgroundOperation(AwaitedRun(of: WorkScope(), generation: 0))
    operation.cancel()
    let task = Task { @MainActor in
      operation.willRun()
      wasCancelled.value.withLock { $0 = Task.isCancelled }
    }
    await task.value
    #expect(wasCancelled.value.withLock { $0 } == true)
    let late = Task<Void, Never> { @MainActor in for await _ in AsyncStream.makeStream(of: Never.self).stream {} }
    operation.start(as: late)
    await late.value
  }

  // MARK: Before a suspension

  /// A task begins at any moment of a suspension, and in any order of the work that is ready.
  @Test(arguments: 0..<200 as Range<UInt64>)
  func `a task that begins before the suspension is awaited, or refused and told`(seed: UInt64) async throws {
    try await withSimulation(order: .seeded(seed)) { @MainActor clock in
      let application = Application(delegate: Bare(), clock: clock)
      await application.handle(.launch)
      let suspension = application.suspend()
      for _ in 0..<seed % 40 { await Task.yield() }
      var expirations = 0
      let task = application.beginBackgroundTask(named: "upload") { _ in expirations += 1 }
      await clock.settle()
      if task.wasRefused {
        #expect(application.state == .suspended)
        #expect(expirations == 1)
      } else {
        #expect(application.state == .background, "seed \(seed)")
        try await clock.advance(by: .seconds(1))
        #expect(application.state == .background)
        task.end()
      }
      #expect(await suspension.value)
      await application.handle(.open)
      #expect(!application.beginBackgroundTask(named: "after").wasRefused)
    }
  }

  @Test(arguments: [SystemInput.wake, .fetch, .open])
  func `tasks are accepted again when the suspension is revoked at its last step`(input: SystemInput) async throws {
    try await withSimulation { @MainActor clock in
      let application = Application(delegate: Bare(), clock: clock)
      await application.handle(.launch)
      await application.handle(.home)
      let open = await application.finishBackgroundTasks(within: .seconds(1), before: 7, cause: "stop")
      #expect(open == [])
      #expect(application.beginBackgroundTask(named: "late").wasRefused)
      if input == .open { await application.handle(.open) } else { application.background.reopen(after: 6) }
      #expect(application.beginBackgroundTask(named: "between").wasRefused == (input != .open))
      application.background.reopen(after: 7)
      #expect(!application.beginBackgroundTask(named: "again").wasRefused)
    }
  }

  @Test func `tasks are refused while the application is suspended`() async throws {
    let system = SimulatedSystem()
    try await system.play("launch; home; suspend")
    #expect(system.application.beginBackgroundTask(named: "late").wasRefused)
    try await system.play("wake")
    #expect(!system.application.beginBackgroundTask(named: "awake").wasRefused)
  }

  // MARK: Eight threads

  /// `REPETITIONS=12500` makes it 100,000 tasks.
  @Test(.longRunning) func `each of many tasks of eight threads expires or ends once`() async throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    let count = repetitions(default: 1_000)
    print("background tasks: 8 threads with \(count) tasks each, seed \(seed)")
    var configuration = Application.Configuration()
    // The real clock: short enough that stays end, tasks expire and processes are purged while the threads run.
    configuration.backgroundStay = .milliseconds(1)
    configuration.backgroundTaskAllowance = .milliseconds(4)
    configuration.backgroundExpirationLead = .milliseconds(2)
    (configuration.didEnterBackgroundBudget, configuration.willTerminateBudget) = (.milliseconds(4), .milliseconds(4))
    let application = Application(delegate: Bare(), configuration: configuration)
    application.enforceBackgroundTime()
    var (began, ended, expired): ([String: Int], [String: Int], [String: Int]) = ([:], [:], [:])
    let token = application.observe { event in
      switch event {
      case .callBegan(let call) where call.kind == .task: began[call.name, default: 0] += 1
      case .callEnded(let entry, let call) where entry.kind == .task:
        ended[entry.name, default: 0] += 1
        #expect(call != nil && began[entry.name] == 1, "seed \(seed): \(entry.name) ends before it begins")
      case .recorded(let record) where record.kind == .task && record.name.hasPrefix("expire:"):
        expired[String(record.name.dropFirst(7)), default: 0] += 1
      default: break
      }
    }
    defer { token.cancel() }
    await application.handle(.launch)
    let client = Client(application, tasks: count, seed: seed)
    let script = await play(until: client, on: application, seed: seed)
    await application.handle(.shutDown)
    await client.finishOperations()
    // A call on the main actor tells what has happened before.
    application.beginBackgroundTask(named: "last").end()
    #expect(application.openBackgroundTasks == [])
    let fates = client.fates
    #expect(fates.count == 8 * count)
    #expect(ended == began, "seed \(seed)")
    for (name, fate) in fates {
      #expect(began[name] == (fate.wasRefused ? nil : 1), "seed \(seed): \(name)")
      #expect(fate.calls <= 1 && expired[name] ?? 0 <= 1, "seed \(seed): \(name)")
    }
    let refused = fates.values.count { $0.wasRefused }
    print("background tasks: \(script) inputs, \(expired.count) expirations, \(refused) refused")
  }

  /// Sends inputs in a random order until the threads are done.
  private func play(until client: Client, on application: Application, seed: UInt64) async -> Int {
    var random = SplitMix64(seed: seed)
    var inputs = 0
    client.start()
    while !client.isDone {
      inputs += 1
      switch Int.random(in: 0..<16, using: &random) {
      case 0: await application.handle(.shutDown)
      case 1...3: await application.handle(.launch)
      case 4...6: await application.handle(.home)
      case 7...8: _ = await application.suspend().value
      case 9: application.suspend()
      case 10: await application.handle(.wake)
      case 11: await application.handle(.fetch)
      default: await application.handle(.open)
      }
      client.inputWasPlayed()
    }
    return inputs
  }
}

/// A value that several threads use.
private final class Shared<Value: Sendable>: Sendable {
  let value: Guarded<Value>

  init(_ value: Value) { self.value = Guarded(value) }
}

/// Eight threads that begin and end tasks.
private final class Client: Sendable {
  struct Fate {
    var wasRefused = false
    /// The number of calls of the expiration handler.
    var calls = 0
  }

  private struct State {
    var fates: [String: Fate] = [:]
    var operations: [Task<Void, Never>] = []
    var running = 8
  }

  private let application: Application
  private let tasks: Int
  private let seed: UInt64
  private let state = Guarded(State())
  /// Signalled when an input has been played, so that the inputs and the tasks keep pace.
  private let played = NSCondition()

  init(_ application: Application, tasks: Int, seed: UInt64) {
    (self.application, self.tasks, self.seed) = (application, tasks, seed)
  }

  var isDone: Bool { state.withLock { $0.running == 0 } }

  var fates: [String: Fate] { state.withLock { $0.fates } }

  func start() { for thread in 0..<8 { Thread { self.run(thread) }.start() } }

  func finishOperations() async { for operation in state.withLock({ $0.operations }) { await operation.value } }

  func inputWasPlayed() {
    played.lock()
    played.broadcast()
    played.unlock()
  }

  private func waitForInput() {
    played.lock()
    played.wait()
    played.unlock()
  }

  private func run(_ thread: Int) {
    var random = SplitMix64(seed: seed &+ UInt64(thread))
    var open: [Application.BackgroundTask] = []
    for number in 0..<tasks {
      open.append(begin("\(thread).\(number)", endsAtExpiration: Bool.random(using: &random)))
      if Int.random(in: 0..<8, using: &random) == 0 { perform("\(thread).\(number)") }
      let left = Int.random(in: 0...3, using: &random)
      while open.count > left {
        let task = open.remove(at: Int.random(in: 0..<open.count, using: &random))
        task.end()
        if Int.random(in: 0..<16, using: &random) == 0 { task.end() }
      }
      if number % 20 == 19 { waitForInput() }
    }
    for task in open { task.end() }
    state.withLock { $0.running -= 1 }
  }

  private func begin(_ name: String, endsAtExpiration: Bool) -> Application.BackgroundTask {
    let task = application.beginBackgroundTask(named: name) { [self] task in
      state.withLock { $0.fates[name, default: Fate()].calls += 1 }
      if endsAtExpiration { task.end() }
    }
    state.withLock { $0.fates[name, default: Fate()].wasRefused = task.wasRefused }
    return task
  }

  private func perform(_ name: String) {
    let operation = application.performBackgroundTask(named: "operation of \(name)") { await Task.yield() }
    state.withLock { $0.operations.append(operation) }
  }
}
