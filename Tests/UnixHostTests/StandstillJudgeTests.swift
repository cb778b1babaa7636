import CUnixHost
import Foundation
import Testing

@testable import UnixHost

/// The judge of a standing process, alone.
@Suite struct `A standstill` {
  private typealias Reading = StandstillJudge.Reading

  private func reading(_ seconds: Double, continues: UInt32 = 0, delay: Duration? = .zero) -> Reading {
    Reading(time: .seconds(seconds), continues: continues, runDelay: delay)
  }

  /// A judge whose thread waits from 0 s to 1 s.
  private func waiting(delay: Duration? = .zero) -> StandstillJudge {
    var judge = StandstillJudge(reading(0, delay: delay))
    judge.willWait(until: .seconds(1), reading(0, delay: delay))
    return judge
  }

  @Test func `is seen by the first reading after it`() {
    var judge = waiting()
    judge.look(reading(60))
    #expect(judge.lost == .seconds(60))
    // The thread of the host comes second.
    judge.works(reading(60.001, continues: 1))
    #expect(judge.lost == .seconds(60))
    judge.willWait(until: .seconds(61), reading(60.002, continues: 1))
    judge.look(reading(61, continues: 1))
    #expect(judge.lost == .seconds(60))
  }

  /// The system has handed the signal over, and its handler has not begun.
  @Test func `is seen by the second reading after it if the signal is on its way at the first`() {
    for (pause, isSeen) in [(0.0625, true), (0.25, false)] {
      var judge = StandstillJudge(reading(0))
      judge.look(reading(60))
      #expect(judge.lost == .zero)
      judge.note(.seconds(60 + pause / 2))
      judge.look(reading(60 + pause, continues: 1))
      #expect(judge.lost == (isSeen ? .seconds(60 + pause / 2) : .zero), "after \(pause) s")
    }
  }

  @Test func `begins with the last reading`() {
    var judge = waiting()
    #expect(judge.isOrdinary(at: .milliseconds(700), continues: 0))
    judge.note(.milliseconds(700))
    judge.look(reading(60))
    #expect(judge.lost == .milliseconds(59_300))
  }

  @Test func `is not a thread that is a little late, nor one that lacks a processor`() {
    var judge = waiting()
    #expect(judge.isOrdinary(at: .milliseconds(1_099), continues: 0))
    #expect(!judge.isOrdinary(at: .milliseconds(1_100), continues: 0))
    judge.look(reading(9, delay: .milliseconds(8_950)))
    #expect(judge.lost == .zero)
  }

  /// A thread whose wait was over, and that got a processor late, stood still no moment of the rest.
  @Test func `is not the wait before a thread lacks a processor`() {
    var judge = waiting()
    judge.works(reading(1.3, delay: .milliseconds(300)))
    #expect(judge.lost == .zero)
  }

  /// Another thread reads the clock while the thread still lacks a processor: the system does not know that yet.
  @Test func `is taken back when the thread has run, and was starved`() {
    var judge = StandstillJudge(reading(0))
    var delay = Duration.zero
    for round in 0..<100 {
      let begin = Double(round)
      judge.willWait(until: .seconds(begin + 0.125), reading(begin, delay: delay))
      judge.look(reading(begin + 0.5, delay: delay))
      delay += .milliseconds(500)
      judge.works(reading(begin + 0.625, delay: delay))
    }
    // The first mistake stands, as time that was lost never comes back; no other is added to it.
    #expect(judge.lost == .milliseconds(500))
    // A stop counts as far as it is longer than the mistake.
    judge.willWait(until: .seconds(101), reading(100, delay: delay))
    judge.works(reading(160, continues: 1, delay: delay))
    #expect(judge.lost == .seconds(60))
  }

  @Test func `is taken back in part when the thread also lacked a processor`() {
    var judge = waiting()
    judge.look(reading(60))
    // It waited from 50 s on.
    judge.works(reading(61, delay: .seconds(11)))
    judge.willWait(until: .seconds(62), reading(61, delay: .seconds(11)))
    judge.works(reading(161, continues: 1, delay: .seconds(11)))
    #expect(judge.lost == .seconds(150))
  }

  /// The thread does not run although the process does: after the first verdict there is no second.
  @Test func `is found once until the thread has run`() {
    var judge = waiting()
    judge.look(reading(2))
    for second in 3..<100 { judge.look(reading(Double(second))) }
    #expect(judge.lost == .seconds(2))
    judge.works(reading(100))
    judge.willWait(until: .seconds(101), reading(100))
    judge.look(reading(110))
    #expect(judge.lost == .seconds(12))
  }

  @Test func `while the thread is at work is proved by a SIGCONT`() {
    var judge = StandstillJudge(reading(0))
    judge.works(reading(0))
    judge.look(reading(5))
    #expect(judge.lost == .zero, "a slow disk")
    judge.look(reading(9, continues: 1))
    #expect(judge.lost == .seconds(4))
  }

  /// The handler of SIGCONT runs on a thread that may come later than the reader.
  @Test func `while the thread is at work is looked for after a long time without a reading`() {
    var judge = StandstillJudge(reading(0))
    judge.works(reading(0))
    judge.note(.seconds(1))
    #expect(judge.isOrdinary(at: .seconds(2), continues: 0))
    #expect(!judge.isOrdinary(at: .milliseconds(2_100), continues: 0))
  }

  @Test func `is proved by a SIGCONT that waits for its handler, too`() async {
    let (waits, later) = await withCheckedContinuation { continuation in
      let thread = Thread {
        let begun = unixhost_continues_begun()
        var (only, before) = (sigset_t(), sigset_t())
        sigemptyset(&only)
        sigaddset(&only, SIGCONT)
        pthread_sigmask(SIG_BLOCK, &only, &before)
        pthread_kill(pthread_self(), SIGCONT)
        let waits = unixhost_continues_arrived() - begun
        var number: Int32 = 0
        sigwait(&only, &number)
        let later = unixhost_continues_arrived() - begun
        pthread_sigmask(SIG_SETMASK, &before, nil)
        continuation.resume(returning: (waits, later))
      }
      thread.start()
    }
    #expect(waits == 1 && later == 0)
  }

  /// As `cpulimit` does: each stop is short, and a program must still come to its end.
  @Test func `is not a series of short stops`() {
    var judge = StandstillJudge(reading(0))
    for step in 1...100 {
      let time = Double(step) / 10
      judge.willWait(until: .seconds(time + 0.1), reading(time, continues: UInt32(step)))
      judge.works(reading(time + 0.05, continues: UInt32(step + 1)))
    }
    #expect(judge.lost == .zero)
  }

  @Test func `is proved by a SIGCONT alone where the system has no statistics`() {
    var judge = waiting(delay: nil)
    judge.look(reading(5, delay: nil))
    #expect(judge.lost == .zero)
    judge.look(reading(10, continues: 1, delay: nil))
    #expect(judge.lost == .seconds(5))
  }

  @Test func `has a SIGCONT that a running program gets, and no more`() {
    var judge = waiting()
    judge.look(reading(1, continues: 1))
    #expect(judge.lost == .zero)
  }
}
