internal import CPubSub

/// Finds the handlers of a subject by its address; readers use it without a lock.
///
/// An address is never reused while it stands here, as the writers hold an unowned reference to the subject. An entry whose
/// last handler was cancelled keeps its key and points to nothing. A table that is full is replaced, and retired.
struct SubjectTable {
  private struct Header {
    var mask: Int
    var shift: UInt64
  }

  private let memory: UnsafeMutableRawPointer

  init(bits: Int) {
    let count = 1 << bits
    let size = MemoryLayout<Header>.size + count * 2 * MemoryLayout<UInt>.size
    memory = .allocate(byteCount: size, alignment: 16)
    memory.initializeMemory(as: UInt8.self, repeating: 0, count: size)
    memory.storeBytes(of: Header(mask: count - 1, shift: UInt64(64 - bits)), as: Header.self)
  }

  func deallocate() { memory.deallocate() }

  var capacity: Int { memory.load(as: Header.self).mask + 1 }

  private typealias Place = UnsafeMutablePointer<UnsafeRawPointer?>

  /// Where a search for a subject begins, in a table of so many entries.
  static func firstIndex(of subject: UnsafeRawPointer, bits: Int) -> Int { firstIndex(subject, UInt64(64 - bits)) }

  private static func firstIndex(_ subject: UnsafeRawPointer, _ shift: UInt64) -> Int {
    Int(truncatingIfNeeded: (UInt64(UInt(bitPattern: subject)) &* 0x9E37_79B9_7F4A_7C15) >> shift)
  }

  /// Where the entry of a subject is, or where it would be.
  ///
  /// Each key is looked at once: a place that was free may be another subject's a moment later.
  private func find(_ subject: UnsafeRawPointer) -> (place: Place, isThere: Bool) {
    let header = memory.load(as: Header.self)
    let entries = (memory + MemoryLayout<Header>.size).assumingMemoryBound(to: UnsafeRawPointer?.self)
    var index = Self.firstIndex(subject, header.shift)
    while true {
      let place = entries + 2 * index
      let key = pubsub_load_pointer(place)
      if key == nil || key == subject { return (place, key != nil) }
      index = (index + 1) & header.mask
    }
  }

  /// The handlers of a subject; for readers.
  func handlers(of subject: UnsafeRawPointer) -> Directory? {
    let (place, isThere) = find(subject)
    Hook.step("post: a subject's place has been found")
    return isThere ? pubsub_load_pointer(place + 1).map { Directory(root: $0) } : nil
  }

  /// Whether a subject's key stands, with handlers or without.
  func contains(_ subject: UnsafeRawPointer) -> Bool { find(subject).isThere }

  /// Sets the handlers of a subject; the table has room.
  func set(_ subject: UnsafeRawPointer, _ handlers: Directory?) {
    let place = find(subject).place
    // The value first: a reader that finds the key must find what belongs to it.
    pubsub_store_pointer(place + 1, handlers?.root)
    pubsub_store_pointer(place, subject)
  }
}
