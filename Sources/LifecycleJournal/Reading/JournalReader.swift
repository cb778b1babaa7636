#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A line of a journal, and where it stands.
public struct JournalEntry: Sendable, Hashable {
  /// What the line says, or what is wrong with it.
  public enum Content: Sendable, Hashable {
    /// A whole line.
    case line(JournalLine)
    /// A line that is passed over.
    case damaged(JournalDamage)
  }

  /// The line's number, from 1.
  public var number: Int
  /// Where the line begins, in bytes from the beginning of the file.
  public var offset: Int64
  /// What the line says, or what is wrong with it.
  public var content: Content
}

/// Reads a journal line by line, whatever it contains, also while another program writes it.
///
///     for entry in try JournalReader(path: path) {
///       if case .line(.record(let record)) = entry.content { print(record.name) }
///     }
///
/// A damaged part is an entry of its own, up to the next end of a line. Empty lines are passed over. Memory depends neither on
/// the length of the file nor on that of its lines. An instance belongs to one thread at a time.
public final class JournalReader: Sequence, IteratorProtocol {
  /// What becomes of a last line without an end.
  public enum Ending: Sendable, Hashable {
    /// It is reported as damaged.
    case isReported
    /// It is left for a later call, when its writer may have finished it.
    case isAwaited
  }

  /// The file that is read; empty where the bytes come from elsewhere.
  public let path: String
  fileprivate let source: any ByteSource
  private let ending: Ending
  private let lineLimit: Int
  private var buffer: [UInt8] = []
  /// What is left of the buffer begins here, and ends before `end`; behind that it holds nothing.
  private var start = 0
  private var end = 0
  /// The first byte that has not been searched for a line's end.
  private var searched = 0
  /// Where `start` lies in the file.
  private var offset: Int64
  private var number = 0
  /// Whether the bytes at `start` are the rest of a line that was too long.
  private var isInLongLine = false
  private var hasFailed = false

  private static let chunk = 64 * 1_024

  /// Opens a journal for reading; nothing is read yet.
  ///
  /// - Parameters:
  ///   - path: the file.
  ///   - ending: what becomes of a last line without an end.
  ///   - lineLimit: the length in bytes from which on a line is too long to be looked at.
  /// - Throws: what keeps the file from being opened.
  public convenience init(
    path: String, ending: Ending = .isReported, lineLimit: Int = 1 << 20
  ) throws(FileError) {
    let files = SystemFiles()
    let descriptor = try files.openForReading(path)
    self.init(
      source: FileSource(files: files, descriptor: descriptor), path: path, ending: ending, lineLimit: lineLimit)
  }

  /// A reader of bytes from anywhere.
  package init(
    source: any ByteSource, path: String = "", from offset: Int64 = 0, ending: Ending = .isReported,
    lineLimit: Int = 1 << 20
  ) {
    self.source = source
    self.path = path
    self.offset = offset
    self.ending = ending
    self.lineLimit = Swift.max(lineLimit, 1)
  }

  /// The number of bytes in the entries that have been returned.
  public var position: Int64 { offset }

  /// The file's length in bytes by now; nil where the bytes come from elsewhere.
  public var size: Int64? { source.size }

  /// The next line, whole or damaged; nil at the end.
  ///
  /// After the end it may be called again: a line that was added meanwhile is next.
  ///
  /// - Complexity: linear in the length of the line.
  public func next() -> JournalEntry? {
    while !hasFailed {
      if let lineEnd = indexOfLineEnd() {
        let isRest = isInLongLine
        isInLongLine = false
        if let entry = take(upTo: lineEnd, isRest: isRest) { return entry }
        continue
      }
      let length = searched - start
      if isInLongLine || length > lineLimit {
        if let entry = dropLongLine() { return entry }
      }
      do throws(FileError) {
        if try !fill() { return lastEntry() }
      } catch {
        hasFailed = true
        return JournalEntry(number: number + 1, offset: offset, content: .damaged(.unreadable(error)))
      }
    }
    return nil
  }

  /// The index of the next line feed; what has been looked at once is not looked at again.
  private func indexOfLineEnd() -> Int? {
    let found = buffer.withUnsafeBytes { bytes -> Int? in
      guard let base = bytes.baseAddress, let place = memchr(base + searched, 0x0A, end - searched) else { return nil }
      return UnsafeRawPointer(place) - base
    }
    searched = found ?? end
    return found
  }

  /// Takes the line that ends before an index, and its end.
  private func take(upTo end: Int, isRest: Bool) -> JournalEntry? {
    let line = start..<end
    let lineOffset = offset
    start = end + 1
    searched = start
    offset += Int64(line.count + 1)
    guard !isRest else { return nil }
    number += 1
    guard line.count <= lineLimit else { return damaged(.tooLong, at: lineOffset) }
    // An empty line is no damage: a journal puts an end to what a program that died left unfinished.
    guard buffer[line].contains(where: { $0 != 0x20 && $0 != 0x0D && $0 != 0x09 }) else { return nil }
    let result = buffer.withUnsafeBufferPointer { JournalLine.read(UnsafeBufferPointer(rebasing: $0[line])) }
    switch result {
    case .success(let said): return JournalEntry(number: number, offset: lineOffset, content: .line(said))
    case .failure(let damaged): return self.damaged(damaged.damage, at: lineOffset)
    }
  }

  private func damaged(_ damage: JournalDamage, at lineOffset: Int64) -> JournalEntry {
    JournalEntry(number: number, offset: lineOffset, content: .damaged(damage))
  }

  /// Forgets what was read of a line that is too long; reports the line once.
  private func dropLongLine() -> JournalEntry? {
    let lineOffset = offset
    offset += Int64(end - start)
    start = end
    searched = start
    guard !isInLongLine else { return nil }
    isInLongLine = true
    number += 1
    return damaged(.tooLong, at: lineOffset)
  }

  /// What stands after the last line's end.
  private func lastEntry() -> JournalEntry? {
    guard ending == .isReported, start < end, !isInLongLine else { return nil }
    let lineOffset = offset
    let isBlank = buffer[start..<end].allSatisfy { $0 == 0x20 || $0 == 0x0D || $0 == 0x09 }
    offset += Int64(end - start)
    start = end
    searched = start
    number += 1
    return isBlank ? nil : damaged(.unfinished, at: lineOffset)
  }

  /// Reads on; false at the end.
  private func fill() throws(FileError) -> Bool {
    makeRoom()
    let place = offset + Int64(end - start)
    let result = buffer.withUnsafeMutableBytes { [end] bytes in
      Result { () throws(FileError) in
        try source.read(into: UnsafeMutableRawBufferPointer(rebasing: bytes[end...]), at: place)
      }
    }
    let count = try result.get()
    end += count
    return count > 0
  }

  /// Moves what is left to the front, into a longer buffer where a line needs one; a buffer that was long for one is let go.
  private func makeRoom() {
    let left = end - start
    let wanted = left + Self.chunk
    if buffer.count >= wanted, buffer.count <= 4 * wanted {
      buffer.withUnsafeMutableBytes { bytes in
        if start > 0, let base = bytes.baseAddress { base.copyMemory(from: base + start, byteCount: left) }
      }
    } else {
      buffer = [UInt8](unsafeUninitializedCapacity: 2 * wanted) { bytes, count in
        bytes.initialize(repeating: 0)
        buffer.withUnsafeBufferPointer { old in
          for index in 0..<left { bytes[index] = old[start + index] }
        }
        count = 2 * wanted
      }
    }
    searched -= start
    start = 0
    end = left
  }
}

extension JournalReader {
  /// Which file is read, whatever its name is by now; nil where the bytes come from elsewhere.
  package var identity: FileStatus.Identity? { source.identity }
}
