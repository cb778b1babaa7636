import Scheduling

@testable import PubSub

// What the tests post.

struct Tick: BusEvent, Equatable {
  var number = 0
}

struct Tock: BusEvent {
  var number = 0
}

/// Delivered in the mirror image of the usual order.
struct TearDown: BusEvent {
  static var isReversed: Bool { true }
}

struct Shown: MainActorEvent {
  var number = 0
}

struct ModeDidChange: MainActorEvent, StickyEvent {
  let mode: String
}

struct Failure: Error, Equatable {
  var number = 0
}

/// A list that handlers on any thread add to.
final class Log<Element: Sendable>: Sendable {
  private let elements = Guarded<[Element]>([])
  func add(_ element: Element) { elements.withLock { $0.append(element) } }
  var all: [Element] { elements.withLock { $0 } }
}

/// Lets some tasks wait until another has opened it.
final class Gate: Sendable {
  private let state = Guarded<(isOpen: Bool, waiters: [CheckedContinuation<Void, Never>])>((false, []))

  func open() {
    let waiters = state.withLock { state in
      state.isOpen = true
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters { waiter.resume() }
  }

  func wait() async {
    await withCheckedContinuation { continuation in
      let isOpen = state.withLock { state in
        if !state.isOpen { state.waiters.append(continuation) }
        return state.isOpen
      }
      if isOpen { continuation.resume() }
    }
  }
}

/// An object that can be a subject or an owner.
final class Thing: Sendable {}

/// Sticky, and posted from any thread.
struct LevelDidChange: BusEvent, StickyEvent {
  let level: Int
}

/// Runs tasks only when it is told to.
final class HeldExecutor: TaskExecutor {
  private let jobs = Guarded<[UnownedJob]>([])
  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    jobs.withLock { $0.append(job) }
  }
  func runAll() {
    for job in jobs.withLock({ jobs in
      defer { jobs = [] }; return jobs
    }) {
      job.runSynchronously(on: asUnownedTaskExecutor())
    }
  }
}

/// A subscription that can be cancelled and drained: a `Subscription`, or the registration of one with an owner.
protocol Cancellable: AnyObject, Sendable {
  var subscriber: EventBus.Subscriber { get }
  func cancel()
  func drain() async
  func whenIdle(_ action: @escaping @Sendable () -> Void)
}

extension Registration: Cancellable {}
extension EventBus.Subscription: Cancellable { func drain() async { await cancelAndDrain() } }
