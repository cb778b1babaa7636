internal import CPubSub

/// A hash table of the handlers by subject address, which readers use without a lock.
///
/// An address is not reused while it is a key here, because ``SubjectEntry`` holds an unowned reference to the subject.
/// When the last handler of a subject is cancelled, the key stays and its value becomes nil. A full table is retired
/// and replaced by a new one.
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

  /// Returns the index at which a search for a subject begins, in a table of 2^bits entries.
  static func firstIndex(of subject: UnsafeRawPointer, bits: Int) -> Int { firstIndex(subject, UInt64(64 - bits)) }

  private static func firstIndex(_ subject: UnsafeRawPointer, _ shift: UInt64) -> Int {
    Int(truncatingIfNeeded: (UInt64(UInt(bitPattern: subject)) &* 0x9E37_79B9_7F4A_7C15) >> shift)
  }

  /// Returns the entry of a subject, or the free entry in which it would be.
  ///
  /// Each key is read once: a writer may give a free place to another subject at any time.
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

  /// Returns the handlers of a subject; for readers.
  func handlers(of subject: UnsafeRawPointer) -> Directory? {
    let (place, isThere) = find(subject)
    Hook.step("post: a subject's place has been found")
    return isThere ? pubsub_load_pointer(place + 1).map { Directory(root: $0) } : nil
  }

  /// Returns whether the table has a key for the subject, with or without handlers.
  func contains(_ subject: UnsafeRawPointer) -> Bool { find(subject).isThere }

  /// Sets the handlers of a subject; the table must have room.
  func set(_ subject: UnsafeRawPointer, _ handlers: Directory?) {
    let place = find(subject).place
    // Write the value before the key: a reader that finds the key must find its value.
    pubsub_store_pointer(place + 1, handlers?.root)
    pubsub_store_pointer(place, subject)
  }
}
