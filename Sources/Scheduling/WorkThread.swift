internal import CScheduling

/// A thread that performs work in order, for calls that block: also while all threads of the global pool are busy.
///
/// It exists from the start, because a process may not be able to create threads any more when it ends.
package final class WorkThread: Sendable {
  private struct State: Sendable {
    var jobs: [@Sendable () -> Void] = []
    var isEnding = false
  }

  /// What the thread shares with its owner, which may end first.
  private final class Queue: @unchecked Sendable {
    let state = Guarded(State())
    /// Opened after each change of the state.
    private let gate: OpaquePointer

    init?() {
      guard let gate = scheduling_gate_create() else { return nil }
      self.gate = gate
    }

    deinit { scheduling_gate_destroy(gate) }

    func change(_ body: (inout State) -> Void) {
      state.withLock { body(&$0) }
      scheduling_gate_open(gate)
    }

    func run() {
      while true {
        scheduling_gate_pass(gate)
        let (jobs, isEnding) = state.withLock { state in
          defer { state.jobs = [] }
          return (state.jobs, state.isEnding)
        }
        for job in jobs { job() }
        if isEnding { return }
      }
    }
  }

  /// Nil if the system could not create the thread: the caller then performs its work itself.
  private let queue: Queue?

  package init() {
    guard let queue = Queue() else {
      self.queue = nil
      return
    }
    let argument = Unmanaged.passRetained(queue)
    let isRunning = scheduling_thread_start(
      { Unmanaged<Queue>.fromOpaque($0).takeRetainedValue().run() }, argument.toOpaque())
    if !isRunning { argument.release() }
    self.queue = isRunning ? queue : nil
  }

  deinit { queue?.change { $0.isEnding = true } }

  /// Performs a job after those before it; on the caller's thread if the system could create no other.
  package func perform(_ job: @escaping @Sendable () -> Void) {
    guard let queue else { return job() }
    queue.change { $0.jobs.append(job) }
  }
}
