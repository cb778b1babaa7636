import CUnixHost
import LibC
import Scheduling

/// The time for which the process has stood still since its host began; any thread may read it.
///
/// After a stop, threads of the program may run before the host's thread does. So each reading looks for a stop that
/// has just ended.
final class Standstill: Sendable {
  private struct State {
    var judge: StandstillJudge
    /// The descriptor of the scheduler's statistics of the host's thread; -1 without them.
    var account: Int32 = -1
  }

  private let state: Guarded<State>

  init() {
    let reading = StandstillJudge.Reading(time: SignalPipe.now, continues: unixhost_continues_begun(), runDelay: nil)
    state = Guarded(State(judge: StandstillJudge(reading)))
  }

  /// The time for which the process has stood still.
  var lost: Duration {
    state.withLock { state in
      let now = SignalPipe.now
      if state.judge.isOrdinary(at: now, continues: unixhost_continues_begun()) {
        state.judge.note(now)
      } else {
        state.judge.look(Self.reading(state.account))
      }
      return state.judge.lost
    }
  }

  /// Begins to look, on the host's thread.
  ///
  /// - Parameter account: the descriptor of the scheduler's statistics of this thread; -1 without them.
  func begin(account: Int32) {
    state.withLock { state in
      state.account = account
      state.judge.works(Self.reading(account))
    }
  }

  /// Notes that the host's thread waits for this time at most.
  func willWait(_ milliseconds: Int32) {
    state.withLock { state in
      let reading = Self.reading(state.account)
      state.judge.willWait(until: reading.time + .milliseconds(milliseconds), reading)
    }
  }

  /// Notes that the host's thread is at work.
  func works() { state.withLock { state in state.judge.works(Self.reading(state.account)) } }

  /// Ends the use of the descriptor, because the host ends.
  func end() {
    state.withLock { state in
      state.judge.works(Self.reading(state.account))
      state.account = -1
    }
  }

  private static func reading(_ account: Int32) -> StandstillJudge.Reading {
    StandstillJudge.Reading(
      time: SignalPipe.now, continues: unixhost_continues_arrived(), runDelay: SchedulerAccount.runDelay(account))
  }
}

/// The scheduler's statistics of one thread.
enum SchedulerAccount {
  /// Opens the statistics of the calling thread; -1 if the system has none.
  static func open() -> Int32 {
    #if canImport(Darwin)
      -1
    #else
      LibC.open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC)
    #endif
  }

  /// The total time for which the thread has waited for a processor; any thread may ask.
  static func runDelay(_ account: Int32) -> Duration? {
    var buffer = [UInt8](repeating: 0, count: 128)
    guard account >= 0, case let count = pread(account, &buffer, buffer.count, 0), count > 0 else { return nil }
    let fields = String(decoding: buffer[..<count], as: UTF8.self).split(separator: " ")
    return fields.count > 1 ? Int64(fields[1]).map { .nanoseconds($0) } : nil
  }
}
