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

  /// Where the entry of a subject is, or where it would be.
  private func place(of subject: UnsafeRawPointer) -> Place {
    let header = memory.load(as: Header.self)
    let entries = (memory + MemoryLayout<Header>.size).assumingMemoryBound(to: UnsafeRawPointer?.self)
    var index = Int(truncatingIfNeeded: (UInt64(UInt(bitPattern: subject)) &* 0x9E37_79B9_7F4A_7C15) >> header.shift)
    while true {
      let key = pubsub_load_pointer(entries + 2 * index)
      if key == nil || key == subject { return entries + 2 * index }
      index = (index + 1) & header.mask
    }
  }

  /// The handlers of a subject; for readers.
  func handlers(of subject: UnsafeRawPointer) -> Directory? {
    let place = place(of: subject)
    guard pubsub_load_pointer(place) != nil else { return nil }
    return pubsub_load_pointer(place + 1).map { Directory(root: $0) }
  }

  /// Whether a subject's key stands, with handlers or without.
  func contains(_ subject: UnsafeRawPointer) -> Bool { place(of: subject).pointee != nil }

  /// Sets the handlers of a subject; the table has room.
  func set(_ subject: UnsafeRawPointer, _ handlers: Directory?) {
    let place = place(of: subject)
    // The value first: a reader that finds the key must find what belongs to it.
    pubsub_store_pointer(place + 1, handlers?.root)
    pubsub_store_pointer(place, subject)
  }
}
