import AppLifecycleTesting
import Scheduling
import TestTraits
import Testing

@testable import PubSub

/// The code on behalf of which a test posts.
private enum Requester {
  @TaskLocal static var name = "none"
}

/// Whose context a handler runs in.
@Suite(.timeLimit(.hang)) struct `The context of a handler` {
  @Test(arguments: [false, true])
  func `Rule 10: an asynchronous handler sees no task-local value of a poster, its mailbox idle or busy`(
    isBusy: Bool
  ) async throws {
    try await withSimulation { clock in
      let bus = EventBus(clock: clock)
      let log = Log<String>()
      let subscriptions = [
        bus.receive(Tick.self) { (_: Tick) async in log.add("own \(Requester.name)") },
        bus.receive(Tick.self) { @MainActor _ in log.add("main \(Requester.name)") },
        bus.receiveAll { _ in log.add("all \(Requester.name)") },
      ]
      for name in ["A", "B", "none"] {
        Requester.$name.withValue(name) { bus.post(Tick()) }
        if !isBusy { await clock.settle() }
      }
      await clock.settle()
      await Requester.$name.withValue("C") { _ = await bus.postAndWait(Tick()) }
      withExtendedLifetime(subscriptions) {}
      #expect(Set(log.all) == ["own none", "main none", "all none"])
      #expect(log.all.count == 12)
    }
  }

  @Test func `Rule 10: nor outside of a simulation, where the first event of a burst wakes the mailbox`() async {
    let bus = EventBus()
    let (log, go, complete) = (Log<String>(), Gate(), Gate())
    let subscription = bus.receive(Tick.self) { (tick: Tick) async in
      await go.wait()
      log.add(Requester.name)
      if tick.number == 3 { complete.open() }
    }
    Requester.$name.withValue("A") { bus.post(Tick(number: 1)) }
    Requester.$name.withValue("B") { bus.post(Tick(number: 2)) }
    bus.post(Tick(number: 3))
    go.open()
    await complete.wait()
    withExtendedLifetime(subscription) {}
    #expect(log.all == ["none", "none", "none"])
  }

  @Test func `Rule 10: nor after a run that was cancelled, whose mailbox goes on in a fresh task`() async throws {
    try await withSimulation { clock in
      let bus = EventBus(clock: clock)
      let (log, gate) = (Log<String>(), Gate())
      let subscription = bus.receive(Tick.self) { (_: Tick) async in
        await Requester.$name.withValue("handler") { await gate.wait() }
        log.add("\(Requester.name)\(Task.isCancelled ? ", cancelled" : "")")
      }
      await Requester.$name.withValue("A") {
        _ = await clock.running { await bus.postAndWait(Tick(), within: .seconds(1)) }
        bus.post(Tick())
      }
      gate.open()
      await clock.settle()
      withExtendedLifetime(subscription) {}
      #expect(log.all == ["none, cancelled", "none"])
    }
  }

  @Test func `Rule 10: a task that sleeps for many deadlines has none of the values of the first`() async {
    let (log, slept) = (Log<String>(), Gate())
    let clock = ClockHandle(
      now: { .zero },
      sleepUntil: { _ in
        log.add(Requester.name)
        slept.open()
        throw CancellationError()
      })
    let deadlines = Deadlines(clock, tasks: TaskStarter())
    let id = Requester.$name.withValue("A") { deadlines.set(.seconds(1)) {} }
    await slept.wait()
    deadlines.clear(id)
    #expect(log.all == ["none"])
  }

  @Test(arguments: [
    (TaskPriority.userInitiated, TaskPriority.background), (.background, .userInitiated), (.medium, .background),
  ])
  func `Rule 10: an asynchronous handler has the priority of the code that subscribed, not the poster's`(
    subscriber: TaskPriority, poster: TaskPriority
  ) async {
    let bus = EventBus()
    let log = Log<TaskPriority>()
    let subscribed = Gate()
    let (handled, handledOnMain) = (Gate(), Gate())
    let subscriptions = Guarded<[EventBus.Subscription]>([])
    // A gate, as a task is raised to the priority of the task that awaits it.
    Task.detached(priority: subscriber) {
      subscriptions.withLock {
        $0 = [
          bus.receive(Tick.self) { (_: Tick) async in
            log.add(Task.currentPriority)
            handled.open()
          },
          bus.receive(Tick.self) { @MainActor _ in
            log.add(Task.currentPriority)
            handledOnMain.open()
          },
        ]
      }
      subscribed.open()
    }
    await subscribed.wait()
    Task.detached(priority: poster) { bus.post(Tick()) }
    await handled.wait()
    await handledOnMain.wait()
    #expect(log.all == [subscriber, subscriber])
  }
}
