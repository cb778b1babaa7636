import AppLifecycle
import LifecycleJournal

/// Reads all files of a journal, oldest first, and divides the lines into runs.
final class JournalScan {
  /// A line, and the run that it belongs to.
  struct Item {
    let file: String
    let entry: JournalEntry
    /// The run's number in the journal, from 1; 0 before the first.
    let session: Int
    /// The summary of the run, up to and including this line.
    let run: RunSummary
  }

  private(set) var session = 0
  private(set) var run = RunSummary()
  /// Whether some run has the name that the user asks for.
  private(set) var hasSought = false
  /// The number of damaged lines that were skipped.
  private(set) var damagedLines = 0
  /// Whether a part of the journal could not be written.
  private(set) var hasStopped = false
  /// The number of missing records, by the journal's own gap lines.
  private(set) var lostRecords = 0
  /// Whether the reading has failed before the end of the journal.
  private(set) var isCutShort = false
  /// Called for each run when the next one begins.
  ///
  /// ``finish()`` calls it for the last run, and so does a reading that fails.
  var didEndRun: ((_ session: Int, RunSummary, _ next: NextRun) throws -> Void)?

  /// What follows a run.
  enum NextRun {
    /// A run with this first line.
    case header(RunHeader)
    /// A run of a version of the format that this program does not know.
    case newerVersion
    /// No other run, as far as the journal was read.
    case none
  }

  private var path = ""
  private let sought: SessionChoice?
  private let progress: Progress?

  /// Creates a scan that looks for a run and shows its progress.
  init(seeking sought: SessionChoice? = nil, progress: Progress? = nil) {
    (self.sought, self.progress) = (sought, progress)
  }

  /// Reads the journal's files to their present end.
  ///
  /// - Returns: the reader of the file that is written, for callers that read on.
  @discardableResult
  func read(
    _ path: String, ending: JournalReader.Ending = .isReported, _ take: (Item) throws -> Void
  ) throws -> JournalReader {
    self.path = path
    do {
      var reader = try JournalReader.oldest(of: path, ending: ending)
      try read(reader, take)
      while let next = try reader.next(of: path, ending: ending) {
        // No program writes to the old file any more, so it is complete.
        try read(reader, take)
        reader = next
        try read(reader, take)
      }
      return reader
    } catch {
      if error is FileError { isCutShort = true }
      guard isCutShort else { throw error }
      // What was read before the failure may be the most important part.
      try? finish()
      sumUpComplaints()
      guard let error = error as? FileError else { throw error }
      throw StandardStreams.Failure(operation: "open \(path)", number: error.number)
    }
  }

  /// Reads the rest of a file, from its reader's present position.
  func read(_ reader: JournalReader, _ take: (Item) throws -> Void) throws {
    progress?.begin(reader.path, from: reader.position, size: reader.size ?? 0)
    defer { progress?.clear() }
    while let entry = reader.next() {
      // A kept file that cannot be read is damage, as the files after it may be whole.
      if reader.path == path, case .damaged(.unreadable(let error)) = entry.content {
        isCutShort = true
        throw StandardStreams.Failure(operation: "read \(reader.path)", number: error.number)
      }
      progress?.show(reader.position)
      try note(entry)
      try take(Item(file: reader.path, entry: entry, session: session, run: run))
    }
  }

  /// Ends the scan: the last run has ended, or is under way.
  func finish() throws {
    if session > 0 { try didEndRun?(session, run, .none) }
  }

  /// Returns how a run ended.
  ///
  /// Call it when the run has been read to its end: whether a program writes the journal may change while it is read.
  ///
  /// - Parameters:
  ///   - run: the run.
  ///   - next: what follows it.
  /// - Returns: how the run ended; unknown if the journal could not be read to the run's end.
  func exit(of run: RunSummary, before next: NextRun) -> PreviousExit {
    switch next {
    case .header(let header): return PreviousExit(of: run, bootID: header.bootID)
    case .newerVersion: return PreviousExit(of: run, bootID: nil)
    case .none: break
    }
    var exit = PreviousExit(of: run, bootID: RunFacts.ofThisProcess().bootID)
    if !isCutShort {
      if KernelLocks.isHeld(path, files: SystemFiles()) { exit.kind = .stillRunning }
    } else if !run.hasEnded {
      // More lines of the run may stand behind the place of the failure.
      exit.kind = .unknown
    }
    return exit
  }

  private func note(_ entry: JournalEntry) throws {
    if entry.content.beginsRun(after: run) {
      var next = NextRun.newerVersion
      if case .line(.run(let header)) = entry.content {
        next = .header(header)
        if sought == .name(header.run) { hasSought = true }
      }
      if session > 0 { try didEndRun?(session, run, next) }
      session += 1
      run = RunSummary()
    }
    switch entry.content {
    case .line(let line):
      // The beginning of the first run is no longer kept.
      if session == 0 { session = 1 }
      if case .gap(let gap) = line { lostRecords.add(clamped: gap.lost) }
      if case .stopped = line { hasStopped = true }
      run.take(line)
    case .damaged(let damage):
      damagedLines += 1
      run.take(damage)
    }
  }

  /// Reports damaged lines on standard error, up to a limit that a person would read.
  func complain(about item: Item) {
    guard case .damaged(let damage) = item.entry.content else { return }
    complaints += 1
    guard complaints <= Self.mostComplaints else { return }
    progress?.clear()
    let place = "\(item.file.printable):\(item.entry.number)"
    try? StandardStreams.write("lifecycle: \(place): \(damage), at byte \(item.entry.offset)\n", to: .error)
  }

  /// Reports on standard error how many more lines are damaged.
  func sumUpComplaints() {
    guard complaints > Self.mostComplaints else { return }
    let more = complaints - Self.mostComplaints
    try? StandardStreams.write("lifecycle: and \(more) more damaged line\(more == 1 ? "" : "s")\n", to: .error)
  }

  private static let mostComplaints = 20
  private var complaints = 0

  /// The exit status after a journal was read.
  var status: ExitStatus { damagedLines == 0 && lostRecords == 0 && !hasStopped ? .success : .damaged }
}
