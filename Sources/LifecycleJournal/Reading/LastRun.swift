#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Finds the last run of a journal without reading the runs before it.
package struct LastRun {
  let files: any FileCalls
  let path: String

  /// Makes a search in a journal and its kept files.
  package init(files: any FileCalls, path: String) { (self.files, self.path) = (files, path) }

  private static let chunk: Int64 = 64 * 1_024
  private static let mark = Array("{\"journal\":\"run\",".utf8)

  /// Returns the summary of the last run; empty if there is none.
  ///
  /// The use of memory does not grow with the file. The time is linear in the length of the run.
  package func summary() -> RunSummary {
    let newest = summary(of: path)
    guard let run = newest.summary.header?.run else { return newest.summary }
    // The summary needs the records since the last change of state but one. If they are in a kept file, read that, too.
    var (first, isBeginning) = newest
    var commits = first.commits
    var later: [String] = []
    while !isBeginning, commits < 2 {
      let name = JournalFiles.kept(later.count + 1, of: path)
      let older = summary(of: name)
      guard older.summary.header?.run == run else { break }
      later.append(later.isEmpty ? path : JournalFiles.kept(later.count, of: path))
      (first, isBeginning) = older
      commits += first.commits
    }
    for name in later.reversed() {
      guard let descriptor = try? files.openForReading(name) else { continue }
      take(from: 0, FileSource(files: files, descriptor: descriptor), into: &first)
    }
    return first
  }

  /// Returns the summary of the last run in one file, and whether the run begins there.
  private func summary(of path: String) -> (summary: RunSummary, isBeginning: Bool) {
    var summary = RunSummary()
    guard let descriptor = try? files.openForReading(path) else { return (summary, true) }
    let source = FileSource(files: files, descriptor: descriptor)
    guard let status = try? files.status(of: descriptor), status.isRegular else { return (summary, true) }
    let header = lastHeader(in: source, size: status.size)
    take(from: header?.offset ?? 0, source, into: &summary)
    return (summary, header?.header.part ?? 0 == 0)
  }

  private func take(from offset: Int64, _ source: FileSource, into summary: inout RunSummary) {
    for entry in JournalReader(source: source, from: offset) {
      switch entry.content {
      case .line(let line): summary.take(line)
      case .damaged(let damage): summary.take(damage)
      }
    }
  }

  /// Returns the last header in the file, and its offset.
  private func lastHeader(in source: FileSource, size: Int64) -> (offset: Int64, header: RunHeader)? {
    var end = size
    while end > 0 {
      let begin = max(end - Self.chunk, 0)
      // Also read one byte before the chunk, for a line feed, and the rest of a mark after it.
      let bytes = read(source, from: max(begin - 1, 0), to: min(end + Int64(Self.mark.count), size))
      let first = begin > 0 ? 1 : 0
      for index in lineStarts(in: bytes, from: first, to: Int(end - begin) + first).reversed()
      where isMark(in: bytes, at: index) {
        let offset = begin + Int64(index - first)
        if let header = header(in: source, at: offset) { return (offset, header) }
      }
      end = begin
    }
    return nil
  }

  /// Returns the indices in a range at which lines begin; the first byte of the file is one.
  private func lineStarts(in bytes: [UInt8], from first: Int, to end: Int) -> [Int] {
    var starts = first == 0 ? [0] : []
    // A line may have a gigabyte, so the search is left to the system.
    bytes.withUnsafeBytes { bytes in
      guard let base = bytes.baseAddress else { return }
      let stop = min(end, bytes.count) - 1
      var index = max(first - 1, 0)
      while index < stop, let place = memchr(base + index, 0x0A, stop - index) {
        index = UnsafeRawPointer(place) - base + 1
        starts.append(index)
      }
    }
    return starts
  }

  private func isMark(in bytes: [UInt8], at index: Int) -> Bool {
    index + Self.mark.count <= bytes.count && bytes[index] == Self.mark[0]
      && bytes[index..<(index + Self.mark.count)].elementsEqual(Self.mark)
  }

  private func header(in source: FileSource, at offset: Int64) -> RunHeader? {
    guard let entry = JournalReader(source: source, from: offset).next(), case .line(.run(let header)) = entry.content
    else { return nil }
    return header
  }

  private func read(_ source: FileSource, from begin: Int64, to end: Int64) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: Int(end - begin))
    var count = 0
    while count < bytes.count {
      let read = bytes.withUnsafeMutableBytes {
        try? source.read(into: UnsafeMutableRawBufferPointer(rebasing: $0[count...]), at: begin + Int64(count))
      }
      guard let read, read > 0 else { break }
      count += read
    }
    return Array(bytes.prefix(count))
  }
}
