import PseudoTerminal
import Synchronization
import TestTraits
import Testing

/// A storm of signals says whether the machine sent it in time.
@Suite(.timeLimit(.hang)) struct SignalStormTests {
  /// Sends with a clock that shows these times, one after another, in milliseconds.
  private func storm(of count: Int = .max, at times: [Int]) async -> (isInTime: Bool, sent: Int) {
    let left = Mutex(times[...])
    let sent = Mutex(0)
    let storm = SignalStorm(for: .milliseconds(300), count: count, pause: 1) {
      .milliseconds(left.withLock { $0.popFirst()! })
    }
    let isInTime = await onThread { storm.run { sent.withLock { $0 += 1 } } }
    return (isInTime, sent.withLock { $0 })
  }

  @Test func itEndsWithItsTimeOrItsCount() async {
    #expect(await storm(at: [5, 6, 7, 304, 305]) == (true, 4))
    #expect(await storm(of: 2, at: [5, 6, 7]) == (true, 2))
  }

  /// The thread was held up between its look at the clock and the signal that followed.
  @Test func aSignalThatLeftTooLateIsTold() async {
    #expect(await storm(at: [0, 299, 399]) == (true, 2))
    #expect(await storm(at: [0, 299, 400]) == (false, 2))
    #expect(await storm(of: 1, at: [0, 900]) == (false, 1))
  }
}
