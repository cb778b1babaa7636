internal import Synchronization

/// The first call of a synchronous handler with `once` or `replay`: it ends a subscription to one event before the handler
/// is called, and takes the place of a replay.
///
/// Subscribing releases what cancelled subscribers had captured. Code that runs then may post, and the handler receives
/// that later event instead of the replayed one.
final class FirstCall: @unchecked Sendable {
  /// The subscription to one event, which the first call ends; set before a post can reach the handler.
  weak var registration: Registration?
  private let isOnly: Bool
  private let begun = Atomic(false)

  /// Makes the object; nil for a subscription that needs none.
  init?(once: Bool, replays: Bool = false) {
    if !once, !replays { return nil }
    isOnly = once
  }

  var hasBegun: Bool { begun.load(ordering: .relaxed) }

  /// Notes a call; returns false if the handler must not receive the event, because its one event has come.
  func begin() -> Bool {
    guard isOnly else {
      begun.store(true, ordering: .relaxed)
      return true
    }
    if begun.exchange(true, ordering: .acquiringAndReleasing) {
      Posting.noteUnheard()
      return false
    }
    registration?.cancel()
    return true
  }
}
