internal import Synchronization

/// How many posts of one kind each poster has begun and has ended.
///
/// A poster's posts of one kind come one after another, so that two numbers say which of them are over, which are under way
/// and which are still to come.
final class Ledger: @unchecked Sendable {
  let posters: Int
  /// Begun and ended, by turns.
  private let places: UnsafeMutablePointer<Atomic<Int>>

  init(posters: Int) {
    self.posters = posters
    places = .allocate(capacity: 2 * posters)
    for index in 0..<2 * posters { (places + index).initialize(to: Atomic(0)) }
  }

  deinit {
    places.deinitialize(count: 2 * posters)
    places.deallocate()
  }

  /// The number of the post that a poster is about to make; the first is 1.
  func begin(_ poster: Int) -> Int {
    places[2 * poster].add(1, ordering: .acquiringAndReleasing).newValue
  }

  func end(_ poster: Int) { _ = places[2 * poster + 1].add(1, ordering: .releasing) }

  /// How many posts each poster has ended: what those did has happened before.
  var ended: [Int] { (0..<posters).map { places[2 * $0 + 1].load(ordering: .acquiring) } }

  /// How many posts each poster has begun: all others will begin after what the caller did.
  ///
  /// Written, not only read, so that a poster that begins afterwards has this thread's past behind it.
  func begun() -> [Int] {
    (0..<posters).map { places[2 * $0].add(0, ordering: .acquiringAndReleasing).newValue }
  }
}
