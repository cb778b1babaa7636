import LibC

/// A source of a journal's bytes.
package protocol ByteSource {
  /// Reads bytes at an offset; returns 0 at the end.
  func read(into bytes: UnsafeMutableRawBufferPointer, at offset: Int64) throws(FileError) -> Int
  /// The present number of bytes, if it is known.
  var size: Int64? { get }
  /// The identity of the file, if the bytes come from one.
  var identity: FileStatus.Identity? { get }
}

extension ByteSource {
  package var identity: FileStatus.Identity? { nil }

  /// Reads bytes from an offset on, as many as there are up to a number.
  package func read(_ count: Int, at offset: Int64 = 0) throws(FileError) -> [UInt8] {
    try [UInt8](unsafeUninitializedCapacity: count) { (bytes, filled) throws(FileError) in
      while filled < count {
        let rest = UnsafeMutableRawBufferPointer(UnsafeMutableBufferPointer(rebasing: bytes[filled...]))
        let more = try read(into: rest, at: offset + Int64(filled))
        guard more > 0 else { return }
        filled += more
      }
    }
  }
}

/// The bytes of an open file, which is closed when this object is released.
package final class FileSource: ByteSource {
  private let files: any FileCalls
  let descriptor: Int32

  package init(_ path: String, files: any FileCalls = SystemFiles()) throws(FileError) {
    descriptor = try files.openForReading(path)
    self.files = files
  }

  deinit { files.close(descriptor) }

  package func status() throws(FileError) -> FileStatus { try files.status(of: descriptor) }

  package var size: Int64? { try? status().size }

  package var identity: FileStatus.Identity? { try? status().identity }

  package func read(into bytes: UnsafeMutableRawBufferPointer, at offset: Int64) throws(FileError) -> Int {
    try files.read(into: bytes, from: descriptor, at: offset)
  }
}

/// A file that cannot be opened.
struct FailedSource: ByteSource {
  let error: FileError
  let identity: FileStatus.Identity?

  var size: Int64? { nil }

  func read(into bytes: UnsafeMutableRawBufferPointer, at offset: Int64) throws(FileError) -> Int { throw error }
}

/// Bytes in memory, returned a few at a time.
package struct MemorySource: ByteSource {
  private let bytes: [UInt8]
  private let step: Int

  package init(_ bytes: [UInt8], step: Int = .max) { (self.bytes, self.step) = (bytes, max(step, 1)) }

  package var size: Int64? { Int64(bytes.count) }

  package func read(into target: UnsafeMutableRawBufferPointer, at offset: Int64) -> Int {
    guard offset < bytes.count else { return 0 }
    let rest = bytes[Int(offset)...].prefix(min(step, target.count))
    target.copyBytes(from: rest)
    return rest.count
  }
}

extension UnsafeRawBufferPointer {
  /// Returns the index of the first byte of a value at or after a place.
  ///
  /// The system searches, because a line may have a mebibyte.
  func firstIndex(ofByte byte: UInt8, from start: Int = 0) -> Int? {
    guard let baseAddress, let place = memchr(baseAddress + start, Int32(byte), count - start) else { return nil }
    return UnsafeRawPointer(place) - baseAddress
  }
}
