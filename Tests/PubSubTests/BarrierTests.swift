#if os(Linux)
  import CSystemCalls
  import Foundation
  import PubSub
  import Scheduling
  import TestTraits
  import Testing

  /// A program may forbid itself system calls (seccomp), after the library has asked for barriers.
  @Suite(.timeLimit(.hang)) struct `Where the system refuses membarrier` {
    @Test func `Rule 6: what a cancelled handler captured is released, beside posts that never pause`() async {
      let (bus, begun) = (EventBus(), Gate())
      let isOver = Guarded(false)
      Thread.detachNewThread { [bus] in
        bus.post(Tick())
        begun.open()
        while !isOver.withLock({ $0 }) { bus.post(Tick()) }
      }
      await begun.wait()
      // The filter is that of this thread alone, and ends with it.
      let refusal = await withCheckedContinuation { continuation in
        Thread.detachNewThread { [bus] in
          let refusal = refuse_membarrier()
          var things: [WeakThing] = []
          for _ in 0..<100 {
            let thing = Thing()
            let subscription = bus.subscribe(to: Tick.self) { _ in withExtendedLifetime(thing) {} }
            subscription.cancel()
            things.append(WeakThing(thing))
          }
          // A post that is at one of the handlers releases it when it has moved on. What is kept for good ends the test as a hang.
          while things.contains(where: { $0.thing != nil }) { bus.post(Tock()) }
          continuation.resume(returning: refusal)
        }
      }
      isOver.withLock { $0 = true }
      #expect(refusal == 0)
    }

    private struct WeakThing {
      weak var thing: Thing?
      init(_ thing: Thing) { self.thing = thing }
    }
  }
#endif
