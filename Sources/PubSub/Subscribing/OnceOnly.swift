internal import Synchronization

/// Ends the subscription of a synchronous handler at its first event, before the handler is called.
final class OnceOnly: @unchecked Sendable {
  /// The subscription; set before a post can reach the handler.
  weak var registration: Registration?
  private let hasBegun = Atomic(false)

  /// Makes the object for a subscription to one event; nil for any other.
  init?(if once: Bool) { if !once { return nil } }

  /// Returns true for the first event, and then ends the subscription; the handler does not receive any other event.
  func begin() -> Bool {
    if hasBegun.exchange(true, ordering: .acquiringAndReleasing) {
      Posting.noteUnheard()
      return false
    }
    registration?.cancel()
    return true
  }
}
