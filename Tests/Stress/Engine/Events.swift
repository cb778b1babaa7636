import PubSub

/// Says of a post which poster made it, and which of the poster's posts it is.
struct Stamp: Sendable {
  let poster: Poster
  /// The kind of post: its place among the ledgers.
  let channel: Int
  /// Which of the poster's posts of this kind.
  let number: Int
  /// The object that it was posted from; 0 for none.
  let subject: Int
  /// Which of the poster's posts from that object.
  let subjectNumber: Int
}

/// What the stress run posts.
protocol StampedEvent: BusEvent {
  var stamp: Stamp { get }
  init(stamp: Stamp)
}

struct Plain: StampedEvent { let stamp: Stamp }

struct Mirrored: StampedEvent {
  static var isReversed: Bool { true }
  let stamp: Stamp
}

struct Kept: StampedEvent, StickyEvent {
  let stamp: Stamp
}

/// Posted inside handlers.
struct Echo: StampedEvent { let stamp: Stamp }

/// Posted inside its own handler, so often as its channel says.
struct Deep: StampedEvent { let stamp: Stamp }

/// The kinds of post; those that are nested in themselves have one for each level.
enum Channel {
  static let plain = 0
  static let mirrored = 1
  static let kept = 2
  static let echo = 3
  static let deep = 4
  /// More levels than a thread's record has places, so that nested posts also take the way of the deep ones.
  static let levels = 16
  static let count = deep + levels
}

/// An object that is posted from, and released while others post.
final class Subject: Sendable {
  let identity: Int
  let ledger: Ledger

  init(identity: Int, posters: Int) {
    self.identity = identity
    ledger = Ledger(posters: posters)
  }
}
