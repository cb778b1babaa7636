import PubSub
import Synchronization

/// Collects the errors that handlers throw, on any thread.
final class HandlerFailures: Sendable {
  private let complaints = Mutex<[RunComplaint]>([])

  /// Notes the error of a handler; a `CancellationError` is the expected end of a cancelled handler.
  func note(_ failure: HandlerFailure) {
    guard !(failure.error is CancellationError) else { return }
    let message = "“\(failure.subscriber)” threw an error while it handled \(failure.eventName)"
    complaints.withLock { $0.append(RunComplaint(.handler, message, at: String(describing: failure.error))) }
  }

  /// Returns the complaints since the last call, in order.
  func takeComplaints() -> [RunComplaint] {
    complaints.withLock { complaints in
      defer { complaints = [] }
      return complaints
    }
  }
}
