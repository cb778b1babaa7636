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
}

/// The bytes of an open file, which is closed when this object is released.
package final class FileSource: ByteSource {
  private let files: any FileCalls
  private let descriptor: Int32

  package init(files: any FileCalls, descriptor: Int32) { (self.files, self.descriptor) = (files, descriptor) }

  deinit { files.close(descriptor) }

  package var size: Int64? { try? files.status(of: descriptor).size }

  package var identity: FileStatus.Identity? { try? files.status(of: descriptor).identity }

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
