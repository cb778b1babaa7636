import CPubSub
import Dispatch
import TestTraits
import Testing

@testable import PubSub

/// Posts do without a fence as long as no thread frees anything beside them.
@Suite struct `Fences` {
  /// What a handler captures; tells when it goes.
  private final class Captured: Sendable {
    private let log: Log<String>
    init(_ log: Log<String>) { self.log = log }
    func use() { log.add("used") }
    deinit { log.add("released") }
  }

  @Test func `a post under way keeps what another thread cancels, and its thread fences from then on`() async {
    let bus = EventBus()
    let log = Log<String>()
    let duties = Log<Int>()
    let (begun, ended, mayEnd) = (Gate(), Gate(), DispatchSemaphore(value: 0))
    var captured: Captured? = Captured(log)
    let subscription = bus.subscribe(to: Tick.self) { [captured] _ in
      begun.open()
      mayEnd.wait()
      duties.add(pubsub_record_of_thread().pointee.duties)
      captured?.use()
    }
    captured = nil
    DispatchQueue.global().async {
      bus.post(Tick())
      ended.open()
    }
    await begun.wait()
    subscription.cancel()
    #expect(log.all.isEmpty)
    mayEnd.signal()
    await ended.wait()
    #expect(log.all == ["used", "released"])
    let fences = Int(PUBSUB_FENCES | PUBSUB_FENCES_SURELY)
    #expect(duties.all.map { $0 & fences } == [fences])
  }

  /// In a process of its own: a thread that cancels anything in this one marks all its threads, and these marks are counted.
  @Test(.longRunning) func `a thread on which no other relies fences for 512 posts, and then no longer`() async {
    await #expect(processExitsWith: .success) {
      let bus = EventBus()
      let (hasPosted, isMarked, ended) = (Gate(), DispatchSemaphore(value: 0), Gate())
      let subscription = bus.subscribe(to: Tick.self) { _ in }
      let poster = DispatchQueue(label: "poster")
      poster.async {
        bus.post(Tick())
        #expect(pubsub_record_of_thread().pointee.duties == 0)
        hasPosted.open()
        isMarked.wait()
        let marks = Int(PUBSUB_FENCES | PUBSUB_FENCES_SURELY)
        #expect(pubsub_record_of_thread().pointee.duties == marks | Int(PUBSUB_IS_RELIED_ON))
        for _ in 0..<255 { bus.post(Tick()) }
        #expect(pubsub_record_of_thread().pointee.duties == marks | Int(PUBSUB_IS_RELIED_ON))
        bus.post(Tick())
        #expect(pubsub_record_of_thread().pointee.duties == marks)
        for _ in 0..<255 { bus.post(Tick()) }
        #expect(pubsub_record_of_thread().pointee.duties == marks)
        bus.post(Tick())
        #expect(pubsub_record_of_thread().pointee.duties == 0)
        ended.open()
      }
      await hasPosted.wait()
      // Something is freed only if the handler captures something.
      bus.subscribe(to: Tick.self) { _ in hasPosted.open() }.cancel()
      isMarked.signal()
      await ended.wait()
      // What the block holds would be a leak if the process ended before the block has.
      poster.sync {}
      subscription.cancel()
    }
  }
}
