import AppLifecycleTesting
import Scheduling
import TestTraits
import Testing

@testable import AppLifecycle

/// The queue of operations, alone, in a world in which time stands still.
@MainActor @Suite(.timeLimit(.hang)) struct `A queue of operations` {
  /// What operations did, and the queue that they run in.
  @MainActor private final class Workshop: OperationPerformer {
    let clock = ManualClock()
    var notes: [String] = []
    /// These take a second; the others do not suspend.
    var slow: Set<Int> = []
    var queue: OperationQueue?
    var whenBegun: (@MainActor (Int) -> Void)?

    init() {
      queue = OperationQueue(tasks: TaskStarter(clock: clock), performer: self)
    }

    func add(_ numbers: Int...) { for number in numbers { queue?.add(number) } }

    func performOperations(_ next: @MainActor () -> Int?) async {
      while let number = next() { await perform(number) }
    }

    private func perform(_ number: Int) async {
      notes.append("\(number) began\(Task.isCancelled ? ", cancelled" : "")")
      whenBegun?(number)
      if slow.contains(number) { try? await clock.sleep(for: .seconds(1)) }
      notes.append("\(number) ended\(Task.isCancelled ? ", cancelled" : "")")
    }
  }

  private let workshop = Workshop()

  @Test func `performs in the order in which operations were added, one after another if they do not suspend`() async {
    workshop.add(3, 1, 2)
    #expect(workshop.notes.isEmpty, "nothing begins before the main actor is free")
    await workshop.clock.settle()
    #expect(workshop.notes == ["3 began", "3 ended", "1 began", "1 ended", "2 began", "2 ended"])
  }

  @Test func `performs side by side what suspends`() async throws {
    workshop.slow = [1, 2]
    workshop.add(1, 2, 3)
    await workshop.clock.settle()
    #expect(workshop.notes == ["1 began", "2 began", "3 began", "3 ended"])
    try await workshop.clock.advance(by: .seconds(1))
    #expect(workshop.notes.suffix(2) == ["1 ended", "2 ended"])
  }

  @Test func `takes what an operation adds, behind what waits`() async {
    workshop.whenBegun = { [workshop] number in
      if number == 1 { workshop.add(9) }
    }
    workshop.add(1, 2)
    await workshop.clock.settle()
    #expect(workshop.notes.filter { $0.hasSuffix("began") } == ["1 began", "2 began", "9 began"])
  }

  /// Cancels its first operation from inside; the second one suspends.
  @MainActor private final class Inline: OperationPerformer {
    private(set) lazy var queue = OperationQueue(tasks: TaskStarter(), performer: self)
    let (ends, ended) = AsyncStream.makeStream(of: String.self)

    func performOperations(_ next: @MainActor () -> Int?) async {
      while let number = next() {
        if number == 1 { queue.cancel(1) } else { await Task { @MainActor in }.value }
        ended.yield("\(number)\(Task.isCancelled ? ", cancelled" : "")")
      }
    }
  }

  /// In a program, where operations begin inline: their worker has no task yet that could be cancelled.
  @Test func `does not go on in a worker that was cancelled while it ran inline`() async {
    let inline = Inline()
    inline.queue.add(1)
    inline.queue.add(2)
    inline.queue.performNow()
    var ends = inline.ends.makeAsyncIterator()
    #expect(await ends.next() == "1")
    #expect(await ends.next() == "2")
  }

  @Test func `works again after it has rested`() async {
    for number in 0..<3 {
      workshop.add(number)
      await workshop.clock.settle()
    }
    #expect(workshop.notes == ["0 began", "0 ended", "1 began", "1 ended", "2 began", "2 ended"])
  }

  @Test(arguments: [1, 2, 3])
  func `cancels one operation and no other`(cancelled: Int) async throws {
    workshop.slow = [1, 2, 3]
    workshop.add(1, 2, 3)
    await workshop.clock.settle()
    workshop.queue?.cancel(cancelled)
    await workshop.clock.settle()
    #expect(workshop.notes == ["1 began", "2 began", "3 began", "\(cancelled) ended, cancelled"])
    workshop.add(4)
    try await workshop.clock.run()
    #expect(workshop.notes.filter { $0.hasSuffix("cancelled") }.count == 1)
    #expect(workshop.notes.filter { $0.contains("ended") }.count == 4)
  }

  @Test func `what a cancelled operation's task would have taken next runs in another one`() async {
    workshop.whenBegun = { [workshop] number in
      if number == 1 { workshop.queue?.cancel(1) }
    }
    workshop.add(1, 2, 3)
    await workshop.clock.settle()
    #expect(
      workshop.notes == ["1 began", "1 ended, cancelled", "2 began", "2 ended", "3 began", "3 ended"])
  }

  @Test func `does not cancel what has not begun or has ended`() async {
    workshop.add(1)
    workshop.queue?.cancel(1)
    await workshop.clock.settle()
    workshop.queue?.cancel(1)
    workshop.add(1)
    await workshop.clock.settle()
    #expect(workshop.notes == ["1 began", "1 ended", "1 began", "1 ended"])
  }

  @Test func `forgets what has not begun, cancels what has, and works on afterwards`() async {
    workshop.slow = [1]
    workshop.add(1)
    await workshop.clock.settle()
    workshop.add(2)
    workshop.queue?.removeAll()
    workshop.add(3)
    await workshop.clock.settle()
    #expect(workshop.notes.sorted() == ["1 began", "1 ended, cancelled", "3 began", "3 ended"])
  }
}
