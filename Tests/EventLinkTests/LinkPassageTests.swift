import Dispatch
import PubSub
import Scheduling
import Testing

@testable import EventLink

@Suite struct `The post of an event that came over a link` {
  private struct Done: BusEvent {}

  /// A task that a handler starts may post on another thread while the received event is still being posted.
  @Test func `is distinguished from posts of tasks that its handlers start (2)`() async {
    let bus = EventBus()
    let findings = Guarded<[String: Bool]>([:])
    await withCheckedContinuation { continuation in
      // A thread of its own, because it waits for a task.
      WorkThread.perform {
        let finished = DispatchSemaphore(value: 0)
        let subscriptions = [
          bus.subscribe { (_: Done) in
            let isPassing = LinkPassage.isUnderWay(on: bus)
            findings.withLock { $0["task"] = isPassing }
          },
          bus.subscribe { (_: OrderPlaced) in
            let isPassing = LinkPassage.isUnderWay(on: bus)
            findings.withLock { $0["received"] = isPassing }
            Task {
              bus.post(Done())
              finished.signal()
            }
            finished.wait()
          },
        ]
        _ = LinkPassage.post(OrderPlaced(id: 1), on: bus)
        withExtendedLifetime(subscriptions) {}
        continuation.resume()
      }
    }
    #expect(findings.withLock { $0 } == ["received": true, "task": false])
  }
}
