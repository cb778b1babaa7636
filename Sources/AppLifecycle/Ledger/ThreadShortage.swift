internal import Scheduling

/// A reason why asynchronous code had no thread to run on while a budget passed; the raw value is a clause.
package enum ThreadShortage: String, Sendable, Hashable, CaseIterable {
  /// All threads of the Swift thread pool were busy: they computed, or waited for something.
  ///
  /// The pool has as many threads for each priority as there are processors. Code that blocks a thread belongs on a
  /// thread of its own, and a long computation in a task of a low priority.
  case poolIsBusy = "all threads of the Swift thread pool are busy, so asynchronous code cannot run"
  /// The system created no thread for the process: its limit of processes or threads was reached.
  case noThreadCanBeCreated = "the system creates no more threads for this process"

  /// The shortage as far as it is known now; nil if the pool has answered.
  init?(_ probe: ThreadPoolProbe) {
    guard probe.isUnanswered else { return nil }
    self = probe.systemRefuses ? .noThreadCanBeCreated : .poolIsBusy
  }
}
