internal import PubSub

/// A running budget, from the first delegate call of a closing step to the end of the wait for that step.
struct RunningBudget {
  /// The callback that has the budget; with scenes, the budget covers the calls of all scenes in the step.
  let callback: ApplicationCallback
  let length: Duration
  let deadline: Duration
  /// The names of the code that overran it.
  var culprits: [String] = []
  /// Whether code that is no part of the step has used up the budget, and is reported for it: an observer, or background tasks.
  var wasUsedUpBefore = false

  init(of callback: ApplicationCallback, _ length: Duration, until deadline: Duration) {
    (self.callback, self.length, self.deadline) = (callback, length, deadline)
  }

  /// Whether the deadline passed during a call, whose times are those of the application's clock.
  ///
  /// - Parameters:
  ///   - began: the beginning of the call.
  ///   - end: the end of the call, about now.
  ///   - lost: the time for which the process has stood still, by which that clock is ahead of the deadline's.
  /// - Returns: whether the deadline is in between.
  func isUsedUp(from began: Duration, to end: Duration, lost: Duration) -> Bool {
    began <= deadline + lost && end > deadline + lost
  }
}
