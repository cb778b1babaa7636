/// The complete lines of a file, from the last to the first.
///
/// Lines that are longer than the limit are left out. The use of memory grows with the limit and the length of a chunk,
/// and not with the file or its lines.
struct LinesFromEnd: Sequence, IteratorProtocol {
  struct Line {
    /// The offset of the line in the file.
    let offset: Int64
    /// The line without its line feed.
    let bytes: ArraySlice<UInt8>

    /// Returns whether the line contains a byte.
    func contains(_ byte: UInt8) -> Bool { bytes.withUnsafeBytes { $0.firstIndex(ofByte: byte) != nil } }
  }

  private let source: any ByteSource
  private let length: Int64
  private let limit: Int
  private var chunk: [UInt8] = []
  /// The offset of the chunk in the file.
  private var begin: Int64
  /// The beginnings of the chunk's lines that have not been returned, as indices in the chunk, in order.
  private var starts: [Int] = []
  /// The offset of the line feed that ends the next line; nil before the file's last line feed.
  private var end: Int64?

  /// Reads the lines in the first `size` bytes of a source.
  ///
  /// - Parameters:
  ///   - source: the file.
  ///   - size: the number of the file's bytes.
  ///   - chunk: the number of bytes of a read, at least 1.
  ///   - limit: the largest length of a line, in bytes.
  init(of source: any ByteSource, size: Int64, chunk: Int, limit: Int = 1 << 20) {
    (self.source, length, self.limit, begin) = (source, Int64(chunk), limit, size)
  }

  mutating func next() -> Line? {
    while let start = nextStart() {
      defer { end = start - 1 }
      if let end, end - start <= limit { return Line(offset: start, bytes: bytes(from: start, to: end)) }
    }
    return nil
  }

  /// Returns the offset at which the line before begins; nil before the first line.
  private mutating func nextStart() -> Int64? {
    while starts.isEmpty {
      guard begin > 0 else { return nil }
      let end = begin
      begin = Swift.max(end - length, 0)
      chunk = read(from: begin, to: end)
      findStarts()
    }
    return begin + Int64(starts.removeLast())
  }

  private mutating func findStarts() {
    starts = begin == 0 ? [0] : []
    chunk.withUnsafeBytes { bytes in
      var index = 0
      while let place = bytes.firstIndex(ofByte: 0x0A, from: index) {
        index = place + 1
        starts.append(index)
      }
    }
  }

  private func bytes(from start: Int64, to end: Int64) -> ArraySlice<UInt8> {
    // A line that begins in the chunk may end in one that was read before it.
    guard end <= begin + Int64(chunk.count) else { return read(from: start, to: end)[...] }
    return chunk[Int(start - begin)..<Int(end - begin)]
  }

  private func read(from begin: Int64, to end: Int64) -> [UInt8] {
    (try? source.read(Int(end - begin), at: begin)) ?? []
  }
}
