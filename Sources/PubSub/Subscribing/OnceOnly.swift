internal import Synchronization

/// Ends the subscription of a synchronous handler at its first event, before the handler is called.
final class OnceOnly: @unchecked Sendable {
  /// The subscription; set before a post can reach the handler.
  weak var registration: Registration?
  private let hasBegun = Atomic(false)

  /// Returns whether this is the first event, and then ends the subscription.
  ///
  /// The handler has not received any other event.
  func begin() -> Bool {
    if hasBegun.exchange(true, ordering: .acquiringAndReleasing) {
      Posting.noteUnheard()
      return false
    }
    registration?.cancel()
    return true
  }
}
