import AppLifecycleTesting
import PubSub
import Scheduling
import TestTraits
import Testing

@testable import AppLifecycle

/// Transitions that run in the task of the caller that hands in an input, where no simulation has to see it.
@MainActor @Suite(.timeLimit(.hang)) struct `Outside of a simulation` {
  /// Operations that note what they do; some wait until they are let go on.
  @MainActor private final class Workshop: OperationPerformer {
    var notes: [String] = []
    var slow: Set<Int> = []
    private var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
    private(set) var queue: OperationQueue?
    let (ends, didEnd) = AsyncStream.makeStream(of: Int.self)

    init() { queue = OperationQueue(tasks: TaskStarter(), performer: self) }

    func performOperations(_ next: @MainActor () -> Int?) async {
      while let number = next() { await perform(number) }
    }

    private func perform(_ number: Int) async {
      notes.append("\(number) began\(Task.isCancelled ? ", cancelled" : "")")
      if slow.contains(number) { await withCheckedContinuation { waiting[number] = $0 } }
      notes.append("\(number) ended\(Task.isCancelled ? ", cancelled" : "")")
      didEnd.yield(number)
    }

    func letGo(_ number: Int) { waiting.removeValue(forKey: number)?.resume() }
  }

  @Test func `a cancelled caller's transition is not cancelled`() async {
    let delegate = LastDelegate()
    let application = Application(delegate: delegate)
    await application.handle(.launch)
    await Task {
      withUnsafeCurrentTask { $0?.cancel() }
      await application.handle(.shutDown)
    }.value
    #expect(delegate.wasCancelled == [false])
  }

  @Test func `operations that do not suspend are over when the caller goes on`() {
    let workshop = Workshop()
    workshop.queue?.holdBack()
    for number in [3, 1, 2] { workshop.queue?.add(number) }
    #expect(workshop.notes.isEmpty, "held back")
    workshop.queue?.performNow()
    #expect(workshop.notes == ["3 began", "3 ended", "1 began", "1 ended", "2 began", "2 ended"])
  }

  @Test func `one that suspends keeps neither the caller nor the others, and can be cancelled alone`() async {
    let workshop = Workshop()
    workshop.slow = [1]
    for number in [1, 2, 3] { workshop.queue?.add(number) }
    workshop.queue?.performNow()
    #expect(workshop.notes == ["1 began"])
    var ends = workshop.ends.makeAsyncIterator()
    #expect(await ends.next() == 2)
    #expect(await ends.next() == 3)
    workshop.queue?.cancel(1)
    workshop.letGo(1)
    #expect(await ends.next() == 1)
    #expect(workshop.notes.filter { $0.hasSuffix("cancelled") } == ["1 ended, cancelled"])
  }

  @Test func `resources that take no time come and go within a transition, and delay no callback`() async throws {
    let delegate = Delegate()
    let application = Application(delegate: delegate, clock: StillClock())
    let first = try application.manage("first", while: .foreground) {
      delegate.calls.append("acquire first")
    } release: { _ in
      delegate.calls.append("release first")
    }
    try application.manage("second", while: .foreground, after: first) { _ in
      delegate.calls.append("acquire second")
    } release: { _ in
      delegate.calls.append("release second")
    }
    await application.handle(.launch)
    #expect(delegate.calls == ["didBecomeActive", "acquire first", "acquire second"])
    delegate.calls = []
    let home = await application.handle(.home)
    #expect(delegate.calls == ["didEnterBackground", "release second", "release first"])
    #expect(home.entries.map(\.name).suffix(2) == ["second", "first"])
    delegate.calls = []
    await application.handle(.open)
    #expect(delegate.calls == ["willEnterForeground", "didBecomeActive", "acquire first", "acquire second"])
  }

  @Test func `that the caller is cancelled ends no tear-down early, and is not reported`() async throws {
    let application = Application(delegate: Delegate(), clock: StillClock())
    var notes: [String] = []
    let subscription = application.bus.receive(Application.DidEnterBackground.self) { _ async in
      await Task.yield()
      notes.append("saved\(Task.isCancelled ? ", cancelled" : "")")
    }
    try application.manage("feed", while: .foreground) {
      notes.append("acquired")
    } release: { _ in
      await Task.yield()
      notes.append("released\(Task.isCancelled ? ", cancelled" : "")")
    }
    await application.handle(.launch)
    let home = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return await application.handle(.home)
    }
    let report = await home.value
    #expect(report.to == .background)
    #expect(report.overruns.isEmpty)
    #expect(Set(notes) == ["acquired", "saved", "released"])
    subscription.cancel()
  }

  @Test func `inputs that come meanwhile are taken in their turn`() async {
    let application = Application(delegate: Delegate(), clock: StillClock())
    var states: [ApplicationState] = []
    let token = application.observe { if let new = $0.record, new.kind == .state { states.append(new.state) } }
    let subscription = application.bus.subscribe(to: Application.DidBecomeActive.self) { event in
      event.application.send(.home)
    }
    await application.handle(.launch)
    let report = await application.handle(.memoryWarning)
    #expect(report.from == .background)
    #expect(states == [.inactive, .active, .inactive, .background])
    token.cancel()
    subscription.cancel()
  }
}

@MainActor private final class Delegate {
  var calls: [String] = []
}

extension Delegate: ApplicationDelegate {
  func applicationWillEnterForeground(_ application: Application) { calls.append("willEnterForeground") }
  func applicationDidBecomeActive(_ application: Application) { calls.append("didBecomeActive") }
  func applicationDidEnterBackground(_ application: Application) { calls.append("didEnterBackground") }
}

/// Notes whether the last call is made in a cancelled task.
@MainActor private final class LastDelegate { private(set) var wasCancelled: [Bool] = [] }

extension LastDelegate: ApplicationDelegate {
  func applicationWillTerminate(_ application: Application) { wasCancelled.append(Task.isCancelled) }
}
