/// The checksum of saved state: four chains, to which groups of eight bytes go in turn.
///
/// Every step is a bijection of a chain, so damage within one group of eight bytes is always found; other damage stays unseen
/// once in 2⁶⁴ times. It protects from damage, not from forgery. It covers the format's version, so that a damaged version does not look like
/// that of a newer program.
struct Checksum: Sendable, Hashable {
  /// A processor works on four chains at a time.
  private static let chains = 4

  let value: UInt64

  /// Computes the checksum of bytes that follow a first line with a version.
  init(of bytes: UnsafeRawBufferPointer, version: Int) {
    var chains = (Chain(), Chain(), Chain(), Chain())
    let size = MemoryLayout<UInt64>.size
    var offset = 0
    if var place = bytes.baseAddress {
      func word(_ index: Int) -> UInt64 {
        UInt64(littleEndian: place.loadUnaligned(fromByteOffset: index &* size, as: UInt64.self))
      }
      // By a pointer, as this loop takes a good part of the time of a restoration.
      for _ in 0..<(bytes.count / (Self.chains * size)) {
        chains.0.add(word(0))
        chains.1.add(word(1))
        chains.2.add(word(2))
        chains.3.add(word(3))
        place += Self.chains &* size
      }
      offset = bytes.count / (Self.chains * size) * (Self.chains * size)
    }
    var end = Chain()
    end.add(UInt64(truncatingIfNeeded: version))
    for chain in [chains.0, chains.1, chains.2, chains.3] { end.add(chain.value) }
    while offset + size <= bytes.count {
      end.add(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
      offset += size
    }
    var last: UInt64 = 0
    for (index, byte) in bytes[offset...].enumerated() { last |= UInt64(byte) << (8 * UInt64(index)) }
    end.add(last)
    end.add(UInt64(bytes.count))
    value = end.value ^ end.value >> 32
  }

  private struct Chain {
    var value: UInt64 = 0x5361_7665_6453_7461

    @inline(__always) mutating func add(_ word: UInt64) {
      value = (value ^ word) &* 0x9E37_79B9_7F4A_7C15
      value = value << 29 | value >> 35
    }
  }
}
