internal import PubSub
internal import Scheduling

// When a resource is tried again, and what follows if the clock cannot tell when.

/// The error of a clock whose `sleep` throws although nothing was cancelled.
struct ClockFailure: Error, CustomStringConvertible {
  let error: any Error
  var description: String { "the clock cannot sleep: \(error)" }
}

extension ClockHandle {
  /// Sleeps until a deadline.
  ///
  /// - Returns: nil after the sleep, or if the task was cancelled; otherwise why the clock cannot sleep.
  func failureOfSleep(until deadline: Duration) async -> ClockFailure? {
    do {
      try await sleepUntil(deadline)
      return nil
    } catch {
      return Task.isCancelled ? nil : ClockFailure(error: error)
    }
  }
}

extension ResourceManager {
  /// Returns the delay after a number of failures in a row, by the resource's own policy or the default one.
  func delay(of index: Int, afterFailures failures: Int) -> Duration {
    let chance = Double.random(in: 0..<1, using: &random)
    return (resources[index]?.operations.habits.retry ?? retry).delay(afterFailures: failures, chance: chance)
  }

  func waitToRetry(_ index: Int, until deadline: Duration, _ generation: Int) async {
    let failure = await clock.failureOfSleep(until: deadline)
    // The retry may have been cancelled after the sleep had ended; then another task runs for the resource.
    guard !Task.isCancelled, generation == self.generation else { return }
    retries[index] = nil
    if let failure { return giveUpRetry(index, because: failure) }
    didEnd(index, generation) { $0.retryIsDue(index) }
    // A transition that waits meanwhile has not decided on it.
    resources[index]?.transition = nil
  }

  /// Lets a resource or body fail for good, because attempts without a wait between them would keep a processor busy.
  private func giveUpRetry(_ index: Int, because failure: ClockFailure) {
    guard let resource = resources[index] else { return }
    let earlier = resource.lastError.flatMap { $0 == failure.description ? nil : $0 }
    resource.lastError = earlier.map { "\($0); \(failure)" } ?? failure.description
    let operations = resource.operations
    let isBody = operations.body != nil
    didEnd(index, generation) { $0.giveUpRetry(index) }
    // A body has no health that could tell of it.
    application?.report(
      failure, of: operations.source, isBody ? .body(while: resource.phase) : .acquire, hasRecipient: true,
      isToldByEvent: !isBody)
  }

  /// Tries a resource again at once that waits for its next attempt or has failed for good.
  func retryNow(_ index: Int) { perform(graph.retryNow(index)) }
}
