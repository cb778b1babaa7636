/// Finds the last run of a journal without reading the runs before it.
package struct LastRun {
  private let files: any FileCalls
  private let path: String
  private let chunk: Int

  /// Makes a search in a journal and its kept files.
  ///
  /// - Parameters:
  ///   - files: the system calls.
  ///   - path: the journal's file.
  ///   - chunk: the number of bytes of a read, at least 1.
  package init(files: any FileCalls, path: String, chunk: Int = 64 * 1_024) {
    (self.files, self.path, self.chunk) = (files, path, chunk)
  }

  /// Returns the summary of the last run; empty if there is none.
  ///
  /// A run that began in a kept file is read from there if the summary needs it. The use of memory does not grow with
  /// the file. The time is linear in the length of the run.
  package func summary() -> RunSummary {
    var summary = RunSummary()
    var commits = 0
    var names: [String] = []
    for name in JournalFiles.all(of: path, files: files).reversed() {
      guard let part = part(in: name), names.isEmpty || part.summary.header?.run == summary.header?.run else { break }
      names.append(name)
      summary = part.summary
      commits += summary.commits
      // The records since the last change of state but one tell how the run ended.
      if part.isBeginning || commits >= 2 || summary.header == nil { break }
    }
    for name in names.dropLast().reversed() {
      if let source = try? FileSource(name, files: files) { take(from: 0, source, into: &summary) }
    }
    return summary
  }

  /// Returns the summary of the last run in one file, and whether the run begins there.
  private func part(in path: String) -> (summary: RunSummary, isBeginning: Bool)? {
    guard let source = try? FileSource(path, files: files), let status = try? source.status(), status.isRegular
    else { return nil }
    let (offset, isBeginning) = place(in: source, size: status.size)
    var summary = RunSummary()
    take(from: offset, source, into: &summary)
    return (summary, isBeginning)
  }

  private func take(from offset: Int64, _ source: FileSource, into summary: inout RunSummary) {
    for entry in JournalReader(source: source, from: offset) {
      switch entry.content {
      case .line(let line): summary.take(line)
      case .damaged(let damage): summary.take(damage)
      }
    }
  }

  /// Returns the offset of the last run's first header in the file, 0 if there is none; and whether the run begins there.
  private func place(in source: FileSource, size: Int64) -> (offset: Int64, isBeginning: Bool) {
    var first: (offset: Int64, header: RunHeader)?
    /// The first header after all of a known version.
    var newer: Int64?
    for line in LinesFromEnd(of: source, size: size, chunk: chunk) {
      switch (header(in: line), first) {
      case (.known(let header), nil):
        if let newer { return (newer, true) }
        first = (line.offset, header)
        // The search ends here, as the run before may be long.
        if header.part == 0 { return (line.offset, true) }
      case (.known(let header), let former?):
        if former.header.begins(after: header) { return (former.offset, true) }
        first = (line.offset, header)
        if header.part == 0 { return (line.offset, true) }
      case (.newer, nil): newer = line.offset
      case (.newer, let former?): return (former.offset, true)
      case (nil, _): break
      }
    }
    return (first?.offset ?? newer ?? 0, newer != nil)
  }

  private enum Header {
    case known(RunHeader)
    /// A version of the format that this program does not know.
    case newer
  }

  private func header(in line: LinesFromEnd.Line) -> Header? {
    // The key `journal` has a `j` or an escape; a record, as most lines are, seldom has either byte.
    guard line.contains(UInt8(ascii: "j")) || line.contains(UInt8(ascii: "\\")) else { return nil }
    let result = line.bytes.withUnsafeBufferPointer { JournalLine.read($0) }
    switch result {
    case .success(.run(let header)): return .known(header)
    case .failure(let damaged):
      guard case .newerVersion = damaged.damage else { return nil }
      return .newer
    case .success: return nil
    }
  }
}
