/// The checksum of saved state: a chain of eight bytes each.
///
/// Every step is a bijection of the state, so damage within one group of eight bytes is always found; other damage stays unseen
/// once in 2⁶⁴ times. It protects from damage, not from forgery. It covers the format's version, so that a damaged version does not look like
/// that of a newer program.
struct Checksum: Sendable, Hashable {
  private(set) var value: UInt64 = 0x5361_7665_6453_7461

  /// Computes the checksum of bytes that follow a first line with a version.
  init(of bytes: UnsafeRawBufferPointer, version: Int) {
    add(UInt64(truncatingIfNeeded: version))
    var offset = 0
    while offset + 8 <= bytes.count {
      add(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
      offset += 8
    }
    var last: UInt64 = 0
    for (index, byte) in bytes[offset...].enumerated() { last |= UInt64(byte) << (8 * UInt64(index)) }
    add(last)
    add(UInt64(bytes.count))
    value ^= value >> 32
  }

  private mutating func add(_ word: UInt64) {
    value = (value ^ word) &* 0x9E37_79B9_7F4A_7C15
    value = value << 29 | value >> 35
  }
}
