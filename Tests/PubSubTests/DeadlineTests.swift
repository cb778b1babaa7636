import TestTraits
import Testing

@testable import Scheduling

@Suite(.timeLimit(.hang)) struct `A list of deadlines` {
  @Test func `Rule 17: hands out what is due in order, and what was removed never`() {
    for seed in 0..<200 as Range<UInt64> {
      var random = SplitMix64(seed: seed)
      var list = DeadlineList()
      let passed = Log<Int>()
      var set: [(time: Int, number: Int, id: Deadlines.ID)] = []
      var expected: [Int] = []
      var now = 0
      for number in 0..<100 {
        switch Int.random(in: 0..<4, using: &random) {
        case 0, 1:
          let time = now + Int.random(in: 0..<8, using: &random)
          set.append((time, number, list.insert(.seconds(time)) { passed.add(number) }))
        case 2:
          guard let index = set.indices.randomElement(using: &random) else { continue }
          let id = set.remove(at: index).id
          #expect(list.remove(id) != nil, "seed \(seed)")
          #expect(list.remove(id) == nil, "seed \(seed): it is gone")
        default:
          now += Int.random(in: 0..<4, using: &random)
          for action in list.takeDue(at: .seconds(now)) { action() }
          let due = set.filter { $0.time <= now }.sorted { ($0.time, $0.number) < ($1.time, $1.number) }
          expected += due.map(\.number)
          set.removeAll { $0.time <= now }
        }
        #expect(list.earliest == set.map { .seconds($0.time) }.min(), "seed \(seed), step \(number)")
      }
      #expect(passed.all == expected, "seed \(seed)")
    }
  }

  @Test func `Rule 17: a deadline does not pass while its clock stands still`() async {
    let time = Guarded(Duration.zero)
    let (sleeps, passed) = (Log<Duration>(), Gate())
    // Its sleep ends at each call, as if the time of the sleep had passed in which the process stood still.
    let clock = ClockHandle(
      now: { time.withLock { $0 } },
      sleepUntil: { deadline in
        sleeps.add(deadline)
        if sleeps.all.count == 3 { time.withLock { $0 = deadline } }
      })
    let deadlines = Deadlines(clock, tasks: TaskStarter())
    _ = deadlines.set(.seconds(1)) { passed.open() }
    await passed.wait()
    #expect(sleeps.all == [.seconds(1), .seconds(1), .seconds(1)])
  }
}
