/// A reader of a journal, line by line; the file may contain anything, and another program may be writing it.
///
///     for entry in try JournalReader(path: path) {
///       if case .line(.record(let record)) = entry.content { print(record.name) }
///     }
///
/// A damaged part, up to the next line feed, is an entry of its own. Empty lines are skipped. The use of memory depends
/// neither on the length of the file nor on the length of its lines. Only one thread at a time may use an instance.
public final class JournalReader: Sequence, IteratorProtocol {
  /// How the reader treats a last line without a line feed.
  public enum Ending: Sendable, Hashable {
    /// The reader reports it as damaged.
    case isReported
    /// The reader leaves it for a later call, when its writer may have finished it.
    case isAwaited
  }

  /// The path of the file; empty if the bytes do not come from a file.
  public let path: String
  fileprivate let source: any ByteSource
  private let ending: Ending
  private let lineLimit: Int
  private var buffer: [UInt8] = []
  /// The unread bytes of the buffer are those from `start` up to `end`.
  private var start = 0
  private var end = 0
  /// The index of the first byte that has not been searched for a line feed.
  private var searched = 0
  /// The offset of `start` in the file.
  private var offset: Int64
  private var number = 0
  /// Whether the bytes at `start` belong to a line that was too long.
  private var isInLongLine = false
  private var hasFailed = false
  /// The file of the journal before this one, held open so that the system gives its identity to no other file.
  private var predecessor: (any ByteSource)?

  private static let chunk = 64 * 1_024

  /// Opens a journal for reading, without reading yet.
  ///
  /// - Parameters:
  ///   - path: the file.
  ///   - ending: how the reader treats a last line without a line feed.
  ///   - lineLimit: the largest length of a line, in bytes; longer lines are reported as damaged.
  /// - Throws: the error of opening the file.
  public convenience init(
    path: String, ending: Ending = .isReported, lineLimit: Int = 1 << 20
  ) throws(FileError) {
    self.init(source: try FileSource(path), path: path, ending: ending, lineLimit: lineLimit)
  }

  /// Makes a reader of bytes from any source.
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

  /// The present length of the file in bytes; nil if the source does not know it.
  public var size: Int64? { source.size }

  /// Returns the next line, readable or damaged; nil at the end.
  ///
  /// You may call it again after the end: it returns lines that were added in the meantime.
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

  /// Returns the index of the next line feed; searches each byte only once.
  private func indexOfLineEnd() -> Int? {
    let found = buffer.withUnsafeBytes {
      UnsafeRawBufferPointer(rebasing: $0[..<end]).firstIndex(ofByte: 0x0A, from: searched)
    }
    searched = found ?? end
    return found
  }

  /// Takes the line up to an index, and the line feed there.
  private func take(upTo end: Int, isRest: Bool) -> JournalEntry? {
    let line = start..<end
    let lineOffset = offset
    start = end + 1
    searched = start
    offset += Int64(line.count + 1)
    guard !isRest else { return nil }
    number += 1
    guard line.count <= lineLimit else { return damaged(.tooLong, at: lineOffset) }
    // An empty line is not damage: a journal adds a line feed after an incomplete line that a dead program left.
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

  /// Drops what was read of a line that is too long; reports the line once.
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

  /// Returns the bytes after the last line feed as a damaged entry, if the ending is to be reported.
  private func lastEntry() -> JournalEntry? {
    guard start < end, !isInLongLine else { return nil }
    if ending == .isAwaited {
      // Its writer may cut the file and write another line there, so a later call reads these bytes again.
      (end, searched) = (start, start)
      return nil
    }
    let lineOffset = offset
    let isBlank = buffer[start..<end].allSatisfy { $0 == 0x20 || $0 == 0x0D || $0 == 0x09 }
    offset += Int64(end - start)
    start = end
    searched = start
    number += 1
    return isBlank ? nil : damaged(.unfinished, at: lineOffset)
  }

  /// Reads more bytes; returns false at the end.
  private func fill() throws(FileError) -> Bool {
    makeRoom()
    let place = offset + Int64(end - start)
    let count = try buffer.withUnsafeMutableBufferPointer { [end, source] (bytes) throws(FileError) in
      try source.read(
        into: UnsafeMutableRawBufferPointer(UnsafeMutableBufferPointer(rebasing: bytes[end...])), at: place)
    }
    end += count
    return count > 0
  }

  /// Moves the unread bytes to the front of the buffer; replaces the buffer by a longer or shorter one if necessary.
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
  /// The identity of the file, even after a rename; nil if the bytes do not come from a file.
  package var identity: FileStatus.Identity? { source.identity }

  /// Returns a reader of the same file from its beginning, for a file that another program has cut.
  package func restarted() -> JournalReader {
    let reader = JournalReader(source: source, path: path, ending: ending, lineLimit: lineLimit)
    reader.predecessor = predecessor
    return reader
  }

  /// Opens the oldest file of a journal.
  ///
  /// The reader of a kept file that cannot be opened has one entry, which is damaged and says why.
  ///
  /// - Throws: the error of opening the file that is written.
  package static func oldest(
    of path: String, ending: Ending = .isReported, files: any FileCalls = SystemFiles()
  ) throws(FileError) -> JournalReader {
    guard let oldest = try open(path, ending, files, after: nil) else { throw .noSuchFile }
    return oldest
  }

  /// Opens the file of the journal that comes after this one; nil if this is the one that is written.
  ///
  /// A program that rotates its journal gives each file the name of another one, so this one is looked for by its
  /// identity. If it is gone, the file before it tells why. If that one is still there, another program has removed
  /// this one, and the file after that one comes next. If it is gone, too, the program has rotated its journal: all
  /// files are newer, and the oldest comes next.
  ///
  /// - Throws: the error of opening the file that is written.
  package func next(
    of path: String, ending: Ending = .isReported, files: any FileCalls = SystemFiles()
  ) throws(FileError) -> JournalReader? { try Self.open(path, ending, files, after: self) }

  private static func open(
    _ path: String, _ ending: Ending, _ files: any FileCalls, after former: JournalReader?
  ) throws(FileError) -> JournalReader? {
    // The limit is for a program that does nothing but rotate.
    let mostAttempts = 100
    attempts: for attempt in 1...mostAttempts {
      let (names, identities) = list(path, files)
      var (start, last): (Int, (any ByteSource)?) = (0, nil)
      for source in [former?.predecessor, former?.source].compactMap(\.self) {
        guard let identity = source.identity, let index = identities.lastIndex(of: identity) else { continue }
        (start, last) = (index + 1, source)
      }
      for index in start..<names.count {
        let isWritten = index == names.count - 1
        do throws(FileError) {
          let reader = JournalReader(
            source: try FileSource(names[index], files: files), path: names[index],
            ending: isWritten ? ending : .isReported)
          reader.predecessor = last
          // The program may rotate while the names are listed, so that a file is seen under none; or before the open.
          let isUnchanged = reader.identity == identities[index] && list(path, files) == (names, identities)
          if isUnchanged || attempt == mostAttempts { return reader }
          continue attempts
        } catch {
          // Without hard links, a rotation leaves the path without a file for a moment.
          if error == .noSuchFile, attempt < mostAttempts { continue attempts }
          if isWritten { throw error }
          guard error != .noSuchFile, let identity = identities[index] else { continue }
          let reader = JournalReader(source: FailedSource(error: error, identity: identity), path: names[index])
          reader.predecessor = last
          return reader
        }
      }
      return nil
    }
    return nil
  }

  /// Returns the names of a journal's files, oldest first, and the files that have them at the moment.
  private static func list(
    _ path: String, _ files: any FileCalls
  ) -> (names: [String], identities: [FileStatus.Identity?]) {
    // The path as it was given: one such as /dev/stdin leads to nothing that another path names.
    let names = Array(JournalFiles.all(of: path, files: files).dropLast()) + [path]
    return (names, names.map { try? files.status(at: $0).identity })
  }
}
