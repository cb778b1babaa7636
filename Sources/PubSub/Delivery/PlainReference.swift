/// All that a plain subscription keeps, in one word: where it stands, which it is, and where it was made.
///
/// A subscription is plain if it has a closure that neither throws nor waits, and no label, subject or owner, as nearly all
/// have. For the others a ``Registration`` keeps more.
struct PlainReference {
  // From the lowest bit: whether it is plain, whether it was cancelled; the store in 14 bits, the site in 16, the identifier
  // in 32.
  private static let plain: UInt64 = 1
  private static let cancelled: UInt64 = 2

  let word: UInt64

  /// A reference from a word; nil if that is none.
  init?(word: UInt64) {
    guard word & Self.plain != 0 else { return nil }
    self.word = word
  }

  init(store: UInt16, site: UInt16, id: UInt64) {
    word = Self.plain | UInt64(store) << 2 | UInt64(site) << 16 | id << 32
  }

  /// How far the identifiers may lie apart that are told from each other.
  static let mostIDs = UInt64(UInt32.max)

  var isCancelled: Bool { word & Self.cancelled != 0 }
  var whenCancelled: UInt64 { word | Self.cancelled }
  var store: UInt16 { UInt16(truncatingIfNeeded: word) >> 2 }
  var site: UInt16 { UInt16(truncatingIfNeeded: word >> 16) }
  /// The lower half of the identifier.
  var shortID: UInt32 { UInt32(truncatingIfNeeded: word >> 32) }
}
