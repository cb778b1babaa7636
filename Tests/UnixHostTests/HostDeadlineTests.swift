import Testing

@testable import UnixHost

/// The deadline of a host, alone: 0.5 s of grace, and times in milliseconds.
@Suite struct `The deadline of a host` {
  private let start = SuspendingClock.now

  /// Returns the looks at which a deadline of one second has passed.
  private func passes(_ looks: [Int]) -> [Int] {
    var deadline = HostDeadline()
    deadline.arm(.seconds(1), at: start)
    return looks.filter { look in
      deadline.hasPassed(at: start + .milliseconds(look), grace: .milliseconds(500))
    }
  }

  private func looks(_ times: ClosedRange<Int>) -> [Int] {
    Array(stride(from: times.lowerBound, through: times.upperBound, by: 100))
  }

  @Test func `passes once, at the first look that does not come before it`() {
    #expect(passes(looks(100...1500)) == [1000])
    #expect(passes(looks(100...900) + [999, 1099, 1199]) == [1099])
  }

  @Test func `gives the main actor the grace period after a look that came late`() {
    #expect(passes(looks(100...600) + looks(1300...2300)) == [1800])
    // The machine stood still before the deadline, and what is left is less than the grace period.
    #expect(passes(looks(100...500) + looks(900...1600)) == [1400])
  }

  @Test func `is not put off by a machine that was late earlier`() {
    #expect(passes([500] + looks(600...1500)) == [1000])
    #expect(passes(looks(100...200) + looks(400...1500)) == [1000])
  }

  @Test func `passes on a machine that is always late, too`() {
    // Put off by one second in all.
    #expect(passes(Array(stride(from: 1000, through: 9000, by: 1000))) == [2000])
    #expect(passes(Array(stride(from: 450, through: 9000, by: 450))) == [2250])
  }

  @Test func `is not late because another one was, and does not pass when disarmed`() {
    var deadline = HostDeadline()
    deadline.arm(.seconds(1), at: start)
    let later = start + .seconds(60)
    deadline.arm(.milliseconds(50), at: later)
    #expect(deadline.timeLeft(at: later) == .milliseconds(50))
    let passes = deadline.hasPassed(at: later + .milliseconds(50), grace: .milliseconds(500))
    #expect(passes)
    #expect(!deadline.isArmed)
    deadline.arm(.seconds(1), at: start)
    deadline.arm(nil, at: start)
    let passesDisarmed = deadline.hasPassed(at: later, grace: .milliseconds(500))
    #expect(!passesDisarmed)
    #expect(deadline.timeLeft(at: start) == .zero)
  }
}
