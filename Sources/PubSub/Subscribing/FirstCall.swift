internal import Synchronization

/// The first call of a synchronous handler.
///
/// With `once`, it ends the subscription before the handler runs; with `replay`, a post that comes before the replay makes the replay
/// unnecessary.
final class FirstCall: @unchecked Sendable {
  /// The subscription with `once`, which the first call ends; set before a post can reach the handler.
  weak var registration: Registration?
  private let endsSubscription: Bool
  private let begun = Atomic(false)

  private init(endsSubscription: Bool) { self.endsSubscription = endsSubscription }

  /// Makes the object; nil for a subscription that needs none.
  ///
  /// Not a failable initializer, which would allocate the object before it returns nil.
  static func ifNeeded(once: Bool, replays: Bool = false) -> FirstCall? {
    once || replays ? FirstCall(endsSubscription: once) : nil
  }

  /// Whether a post has come before the replay: subscribing releases what cancelled subscribers had captured, and code that runs
  /// then may post.
  var hasBegun: Bool { begun.load(ordering: .relaxed) }

  /// Notes a call; returns false if the handler must not receive the event, because its one event has come.
  func begin() -> Bool {
    guard endsSubscription else {
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
