import Testing

@testable import UnixHost

/// The deadline of a host, alone: 0.5 s of grace, and times in milliseconds.
@Suite struct `The deadline of a host` {
  private let start = SuspendingClock.now

  /// Returns the checks at which a deadline of one second passes.
  private func passes(_ checks: [Int]) -> [Int] {
    var deadline = HostDeadline()
    deadline.arm(.seconds(1), at: start)
    return checks.filter { deadline.check(at: start + .milliseconds($0), grace: .milliseconds(500)) }
  }

  private func checks(_ times: ClosedRange<Int>) -> [Int] {
    Array(stride(from: times.lowerBound, through: times.upperBound, by: 100))
  }

  @Test func `passes once, at the first check that does not come before it`() {
    #expect(passes(checks(100...1500)) == [1000])
    #expect(passes(checks(100...900) + [999, 1099, 1199]) == [1099])
  }

  @Test func `gives the main actor the grace period after a check that came late`() {
    #expect(passes(checks(100...600) + checks(1300...2300)) == [1800])
    // Also if it came before the deadline, with less than that time left.
    #expect(passes(checks(100...500) + checks(900...1600)) == [1400])
    // The last moment from which it is given.
    #expect(passes(checks(100...900) + checks(2000...2600)) == [2500])
  }

  @Test func `is not put off by a host that was late earlier`() {
    #expect(passes([500] + checks(600...1500)) == [1000])
    #expect(passes(checks(100...200) + checks(400...1500)) == [1000])
  }

  @Test func `passes at once a second later, and on a computer that is always late`() {
    #expect(passes(checks(100...900) + [2001]) == [2001])
    #expect(passes(Array(stride(from: 450, through: 9000, by: 450))) == [2700])
    #expect(passes(Array(stride(from: 1000, through: 9000, by: 1000))) == [3000])
  }

  @Test func `waits for a save, and for the grace period after it, but not for ever`() {
    var deadline = HostDeadline()
    deadline.arm(.seconds(1), at: start)
    let present = deadline
    func passes(_ checks: [Int], saving: ClosedRange<Int>) -> [Int] {
      deadline = present
      return checks.filter {
        deadline.check(
          at: start + .milliseconds($0), grace: .milliseconds(500), isSaving: saving.contains($0))
      }
    }
    #expect(passes(checks(100...9000), saving: 900...4000) == [4500])
    // A save that has ended before the deadline takes nothing of the time, and adds none.
    #expect(passes(checks(100...9000), saving: 100...400) == [1000])
    #expect(passes(checks(100...60_000), saving: 100...60_000) == [31_500])
  }

  @Test func `in slices, counts a stop of the process as a short one`() {
    var lengths = Array(repeating: Duration.milliseconds(100), count: 9) + [.seconds(3600)]
    var slices = 0
    let passes = HostDeadline.passes(after: .seconds(1), grace: .milliseconds(500)) {
      slices += 1
      return lengths.isEmpty ? .milliseconds(100) : lengths.removeFirst()
    }
    // The main actor still has the grace period after the stop.
    #expect(passes)
    #expect(slices == 15)
    #expect(!HostDeadline.passes(after: .seconds(1), grace: .zero) { nil })
  }

  @Test func `counts from its own beginning, and does not pass when disarmed`() {
    var deadline = HostDeadline()
    deadline.arm(.seconds(1), at: start)
    let later = start + .seconds(60)
    deadline.arm(.milliseconds(50), at: later)
    #expect(deadline.timeLeft(at: later) == .milliseconds(50))
    let passes = deadline.check(at: later + .milliseconds(50), grace: .milliseconds(500))
    #expect(passes)
    #expect(!deadline.isArmed)
    deadline.arm(.seconds(1), at: start)
    deadline.arm(nil, at: start)
    let passesDisarmed = deadline.check(at: later, grace: .milliseconds(500))
    #expect(!passesDisarmed)
    #expect(deadline.timeLeft(at: start) == .zero)
  }
}
