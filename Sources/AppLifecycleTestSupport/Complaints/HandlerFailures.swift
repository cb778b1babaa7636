import AppLifecycleTesting
import PubSub
import Synchronization

/// Collects the errors that handlers throw, on any thread.
final class HandlerFailures: Sendable {
  private let complaints = Mutex<[RunComplaint]>([])

  /// Notes an error that nothing else takes; a `CancellationError` is the expected end of a cancelled handler.
  func note(_ failure: EventBus.HandlerFailure) {
    guard !(failure.error is CancellationError), !failure.hasRecipient else { return }
    guard !SimulatedStateStorage.isScripted(failure.error) else { return }
    let what = failure.event == nil ? "threw an error in" : "threw an error while it handled"
    let message = "“\(failure.subscriber)” \(what) \(failure.eventName)"
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
