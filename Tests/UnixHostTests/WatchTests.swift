import AppLifecycle
import Glibc
import Scheduling
import Testing

@testable import UnixHost

/// The judges of memory, clock and gaps, each alone.
@Suite struct WatchTests {
  // MARK: Rate limit

  @Test func theFirstPassesAndTheRestOfAnIntervalIsOne() {
    var limit = RateLimit(interval: .seconds(2))
    #expect(limit.takeEvent(at: .seconds(10)) == true)
    #expect(limit.deadline == nil)
    for _ in 0..<5 { #expect(limit.takeEvent(at: .seconds(11)) == false) }
    #expect(limit.deadline == .seconds(12))
    #expect(limit.passTime(at: .milliseconds(11_999)) == false)
    #expect(limit.passTime(at: .seconds(12)) == true)
    #expect(limit.deadline == nil)
    // What is paid begins an interval, too.
    #expect(limit.takeEvent(at: .seconds(13)) == false)
    #expect(limit.passTime(at: .seconds(14)) == true)
    #expect(limit.takeEvent(at: .seconds(17)) == true)
  }

  // MARK: Base64

  @Test(arguments: [
    ("", ""), ("Zg==", "f"), ("Zm8=", "fo"), ("Zm9v", "foo"), ("Zg", "f"), ("Zm9v\nYmFy\n", "foobar"),
  ])
  func base64IsDecoded(text: String, bytes: String) { #expect(Base64.decode(text) == Array(bytes.utf8)) }

  @Test(arguments: ["Z", "Zm9vZ", "Zm-v", "Z===", "=Zg="]) func whatIsNoBase64IsNot(text: String) {
    #expect(Base64.decode(text) == nil)
  }

  // MARK: Wall clock

  private static func reading(
    _ wall: Duration, continuous: Duration, sleep: Duration = .zero, day: Int = 1, offset: Int = 3600
  ) -> WallClockJudge.Reading {
    WallClockJudge.Reading(wall: wall, continuous: continuous, sleep: sleep, day: day, offset: offset)
  }

  private func judge() -> WallClockJudge { WallClockJudge(Self.reading(.zero, continuous: .zero), zone: [1]) }

  @Test func everySettingOfTheClockCountsHoweverSmall() {
    var judge = judge()
    #expect(judge.clockWasSet(Self.reading(.seconds(5) + .nanoseconds(1), continuous: .seconds(5))) == .clockSet)
    #expect(judge.clockWasSet(Self.reading(.seconds(-9000), continuous: .seconds(6), day: 0)) == .clockSet)
    // To another day: one change, not two.
    #expect(judge.look(Self.reading(.seconds(-8999), continuous: .seconds(7), day: 0)) == nil)
  }

  @Test func theKernelsWordAfterASleepIsNoSetting() {
    var judge = judge()
    let morning = Self.reading(.seconds(3601), continuous: .seconds(3600), sleep: .seconds(3500))
    #expect(judge.clockWasSet(morning) == nil)
    // Over night it is the next day, though.
    let next = Self.reading(.seconds(40_000), continuous: .seconds(40_000), sleep: .seconds(39_000), day: 2)
    #expect(judge.clockWasSet(next) == .midnight)
    // And a user may have set it while it slept.
    let set = Self.reading(.seconds(90_000), continuous: .seconds(50_000), sleep: .seconds(48_000), day: 2)
    #expect(judge.clockWasSet(set) == .clockSet)
  }

  @Test func midnightAndDaylightSavingTime() {
    var judge = judge()
    #expect(judge.look(Self.reading(.seconds(1), continuous: .seconds(1))) == nil)
    #expect(judge.look(Self.reading(.seconds(2), continuous: .seconds(2), day: 2)) == .midnight)
    #expect(judge.look(Self.reading(.seconds(3), continuous: .seconds(3), day: 2, offset: 7200)) == .daylightSaving)
    #expect(judge.look(Self.reading(.seconds(4), continuous: .seconds(4), day: 3, offset: 3600)) == .midnight)
    // Where the kernel does not tell of a setting, a jump does; a clock that is regulated does not jump.
    #expect(judge.look(Self.reading(.seconds(6), continuous: .seconds(5), day: 3, offset: 3600)) == nil)
    #expect(judge.look(Self.reading(.seconds(9), continuous: .seconds(6), day: 3, offset: 3600)) == .clockSet)
  }

  @Test func anotherZoneIsOneChangeHoweverOftenItsFileIsTouched() {
    var judge = judge()
    let there = Self.reading(.seconds(1), continuous: .seconds(1), day: 2, offset: -36_000)
    #expect(judge.zoneWasTouched(there, zone: [1]) == nil)
    #expect(judge.zoneWasTouched(there, zone: [2]) == .timeZone)
    #expect(judge.zoneWasTouched(there, zone: [2]) == nil)
    #expect(judge.look(there) == nil)
    #expect(judge.zoneWasTouched(there, zone: nil) == .timeZone)
  }

  /// Zones as they are: with an offset, a change of it at some time of the day, forward or back.
  @Test(arguments: [
    (0, 0, 0, 86_400), (5, 0, 0, 86_400), (86_399, 0, 0, 86_400), (86_400, 0, 0, 172_800),
    // Greenwich plus an hour: the day ends an hour earlier.
    (0, 3600, 0, 82_800),
    // Forward at two o'clock, back at three: the offset changes first.
    (0, 0, 3600, 7200), (0, 0, -3600, 7200), (7200, 0, 3600, 82_800), (7200, 0, -3600, 90_000),
  ])
  func theNextChangeIsFoundToTheSecond(seconds: Int, offset: Int, change: Int, next: Int) {
    let found = WallClock.nextChange(after: seconds) { time in
      let here = time >= 7200 ? offset + change : offset
      return ((time + here + 864_000) / 86_400, here)
    }
    #expect(found == next)
  }

  /// A day that begins at one o'clock: at its midnight the clock is put forward.
  @Test func aDayWithoutAMidnightBeginsAllTheSame() {
    let found = WallClock.nextChange(after: 80_000) { time in
      let here = time >= 86_400 ? 3600 : 0
      return ((time + here) / 86_400, here)
    }
    #expect(found == 86_400)
  }

  /// The kernel reports it only as an error of the arming.
  @Test func aSettingOfTheClockJustBeforeItsTimerIsArmedCounts() {
    let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
    let armings = Guarded(0)
    var watch = SystemWatch(
      clock: WallClock(
        descriptor: descriptor, availability: .available("the test's"),
        read: { (armings.withLock { .seconds($0 * 3600) }, 0, 0) }, local: { ($0 / 86_400, 0) },
        arm: { _ in
          armings.withLock {
            $0 += 1; return $0 > 1
          }
        }, next: { nil }))
    watch.begin()
    let idle = watch.descriptors
    #expect(watch.take(idle[...]).contains(.timeChanged(.clockSet)))
    #expect(!watch.take(idle[...]).contains(.timeChanged(.clockSet)))
    watch.close()
  }

  // MARK: Gaps

  private func sample(_ running: Duration, sleep: Duration = .zero, delay: Duration? = .zero)
    -> SuspensionDetector.Sample
  {
    SuspensionDetector.Sample(running: running, sleep: sleep, runDelay: delay)
  }

  /// What is told of a gap, when a SIGCONT can be late no longer.
  private func look(_ sample: SuspensionDetector.Sample, wasContinued: Bool = false) -> [Suspension] {
    var detector = SuspensionDetector(self.sample(.zero))
    let suspensions = detector.look(sample, wasContinued: wasContinued)
    return suspensions + wait(SuspensionDetector.settlingTime, after: sample, &detector)
  }

  /// What is told while the thread wakes each second.
  private func wait(
    _ time: Duration, after sample: SuspensionDetector.Sample, _ detector: inout SuspensionDetector
  ) -> [Suspension] {
    var sample = sample
    let end = sample.running + time
    var suspensions: [Suspension] = []
    while sample.running < end {
      sample.running += SuspensionDetector.tick
      suspensions += detector.look(sample, wasContinued: false)
    }
    return suspensions
  }

  @Test func sleepIsToldByTheClocksToTheMoment() {
    #expect(
      look(sample(.milliseconds(300), sleep: .seconds(3600)))
        == [Suspension(duration: .seconds(3600), agent: .systemSleep)])
    #expect(look(sample(.milliseconds(300), sleep: .milliseconds(99))).isEmpty)
  }

  @Test func aStopIsToldByItsContinuation() {
    #expect(
      look(sample(.seconds(5)), wasContinued: true)
        == [Suspension(duration: .seconds(5), agent: .stopSignal)])
    // A program that runs may get SIGCONT as well.
    #expect(look(sample(.seconds(1)), wasContinued: true).isEmpty)
  }

  /// Another thread has taken it, and a busy machine keeps that thread from recording it.
  @Test func theContinuationMayBeSeenAfterTheGap() {
    let stop = Suspension(duration: .seconds(5), agent: .stopSignal)
    for (seconds, told) in [(6, stop), (6.9, stop), (7, Self.freeze)] {
      var detector = SuspensionDetector(sample(.zero))
      #expect(detector.look(sample(.seconds(5)), wasContinued: false).isEmpty)
      #expect(detector.look(sample(.seconds(6)), wasContinued: false).isEmpty)
      let last = sample(.seconds(seconds))
      #expect(detector.look(last, wasContinued: seconds < 7) == [told], "after \(seconds) s")
      #expect(wait(.seconds(5), after: last, &detector).isEmpty, "it is told once")
    }
  }

  private static let freeze = Suspension(duration: .seconds(5), agent: .frozenOrPaused)

  /// The first one's time to wait is over with the second.
  @Test func twoGapsOneAfterAnotherAreTwo() {
    var detector = SuspensionDetector(sample(.zero))
    #expect(detector.look(sample(.seconds(5)), wasContinued: false).isEmpty)
    #expect(detector.look(sample(.seconds(10)), wasContinued: false) == [Self.freeze])
    #expect(detector.look(sample(.seconds(10.5)), wasContinued: true).map(\.agent) == [.stopSignal])
    // And a gap with its SIGCONT does not hide the one before, which had none.
    #expect(detector.look(sample(.seconds(15)), wasContinued: false).isEmpty)
    #expect(detector.look(sample(.seconds(20)), wasContinued: true).count == 2)
  }

  @Test func aGapThatNothingExplainsIsCalledNoFiner() {
    #expect(
      look(sample(.seconds(9)))
        == [Suspension(duration: .seconds(9), agent: .frozenOrPaused)])
    #expect(look(sample(.milliseconds(1999))).isEmpty)
  }

  @Test func waitingForAProcessorIsNoSuspension() {
    #expect(look(sample(.seconds(9), delay: .seconds(8))).isEmpty)
    // What it leaves unexplained is one.
    #expect(
      look(sample(.seconds(9), delay: .seconds(4)))
        == [Suspension(duration: .seconds(5), agent: .frozenOrPaused)])
    // Where the system does not tell, nothing is claimed.
    #expect(look(sample(.seconds(9), delay: nil)).isEmpty)
    #expect(look(sample(.seconds(9), delay: nil), wasContinued: true).count == 1)
  }

  @Test func bothMayHaveHappened() {
    #expect(
      look(sample(.seconds(5), sleep: .seconds(60)), wasContinued: true).map(\.agent) == [.systemSleep, .stopSignal])
  }

  @Test func aSignOfLifeBeginsAnew() {
    var detector = SuspensionDetector(sample(.zero))
    detector.showLife(sample(.seconds(9)))
    #expect(detector.look(sample(.seconds(10)), wasContinued: false).isEmpty)
    #expect(!detector.suspectsStop(sample(.seconds(11))))
    #expect(detector.suspectsStop(sample(.seconds(12))))
  }

  /// The host's thread may be at work when the process is stopped.
  @Test func aStopDuringItsWorkIsToldByItsContinuation() {
    var detector = SuspensionDetector(sample(.zero))
    #expect(detector.look(sample(.seconds(1)), wasContinued: false).isEmpty)
    detector.willWait(sample(.seconds(5)))
    #expect(detector.suspectsStop(sample(.seconds(5))))
    let suspensions = detector.look(sample(.seconds(5)), wasContinued: true)
    #expect(suspensions == [Suspension(duration: .seconds(4), agent: .stopSignal)])
    // It is told once.
    detector.willWait(sample(.seconds(5)))
    #expect(detector.look(sample(.seconds(6)), wasContinued: true).isEmpty)
  }

  @Test func workThatTakesLongIsNoSuspension() {
    var detector = SuspensionDetector(sample(.zero))
    detector.willWait(sample(.seconds(5)))
    #expect(detector.look(sample(.seconds(5.5)), wasContinued: false).isEmpty)
    #expect(detector.look(sample(.seconds(6)), wasContinued: true).isEmpty)
    // Nor is a stop of its own, of which the application was told.
    detector.willWait(sample(.seconds(12)))
    detector.showLife(sample(.seconds(20)))
    #expect(detector.look(sample(.seconds(20)), wasContinued: true).isEmpty)
  }
}
