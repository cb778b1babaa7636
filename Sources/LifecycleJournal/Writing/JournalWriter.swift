import AppLifecycle
import Scheduling

/// The writer of a journal's file: it decides which system calls to make, and makes them.
///
/// It has no lock and no bus; its user guards it, and posts the notices.
struct JournalWriter: ~Copyable {
  /// Something to report to the program.
  enum Notice: Sendable, Hashable {
    case failed(JournalFailure)
    case recovered(JournalGap)
  }

  /// The open file.
  struct OpenFile {
    let descriptor: Int32
    let identity: FileStatus.Identity
    /// The length of the file, counted from this journal's own writes.
    var size: Int64
    /// The length of the header line with which the run begins or continues in the file.
    var headerLength: Int64 = 0
    /// The number of records written since the file was opened.
    var records = 0
    /// The process's limit on file sizes; nil if there is none.
    var limit: Int64?
    /// The length up to which there is room on the disk.
    var reserved: Int64 = 0
    /// Whether the file system can reserve room.
    var canReserve = true
    /// The number of this file for a crash of the process.
    var crashSlot: Int32?

    /// Returns whether a line would make the file longer than the maximum; a file with only its header never needs
    /// room.
    func mustMakeRoom(for count: Int, within maximum: Int?) -> Bool {
      guard let maximum, size > headerLength else { return false }
      return size + Int64(count) > Int64(maximum)
    }
  }

  /// A time during which the file cannot be written.
  struct Outage {
    var failure: JournalFailure
    var since: Duration
    var lost: Int
    /// Whether the program was told; a loss of lines alone is told with the gap, once the journal can be written again.
    var isReported = true
  }

  /// The path of the file, or the path at which the writer looks for it.
  var path: String
  /// The path that the program has asked for.
  let asked: String
  /// Whether a file was opened at ``path``; if so, it is later opened only there.
  var isFound = false
  let configuration: Journal.Configuration
  let files: any FileCalls
  let facts: RunFacts
  /// The latest header of the run; `part` counts the headers.
  var header: RunHeader
  var clock: JournalClockMark
  var state: ApplicationState
  var file: OpenFile?
  var outage: Outage?
  /// Whether the file's last line is incomplete.
  var isTorn = false
  /// The length at which to try the rotation of this file again; nil if it has not failed.
  var nextRotation: Int?
  var isClosed = false
  /// The time of the last record.
  var lastInstant = Duration.zero
  /// Decides when a line is due that says that the program still runs.
  var heartbeat: Heartbeat
  /// Whether a name of the journal may not be on the disk; an earlier process may have died before it flushed one.
  var hasNewNames = true
  /// Whether this process has made directories, whose names may not be on the disk.
  var hasNewDirectories = false
  /// The last line with its line feed; a stored property, so that its memory is reused.
  private(set) var line = JSONBytes()

  init(
    path: String, configuration: Journal.Configuration, files: any FileCalls, facts: RunFacts, instant: Duration,
    state: ApplicationState
  ) {
    // The program may change its directory.
    let path = SystemFiles.absolute(path)
    (self.path, asked, self.configuration, self.files, self.facts) = (path, path, configuration, files, facts)
    self.state = state
    heartbeat = Heartbeat(interval: configuration.heartbeat)
    let now = facts.wallTime()
    header = RunHeader(
      run: "\(String(now.nanoseconds, radix: 36))-\(facts.processID)", part: -1, program: facts.program,
      processID: facts.processID, bootID: facts.bootID, start: now, instant: instant, wallTime: now,
      startUptime: facts.uptime(), state: state)
    clock = JournalClockMark(of: header)
  }

  /// Opens the file; returns how the previous run ended, and the notices to post.
  mutating func begin() -> (PreviousExit, [Notice]) {
    // How the previous run ended, once the file is open.
    var previous: PreviousExit?
    do throws(JournalFailure) {
      try openAvailable()
      let exit = PreviousExit(of: LastRun(files: files, path: path).summary(), bootID: facts.bootID)
      previous = exit
      try beginFile(at: header.instant)
      return (exit, [])
    } catch {
      let run = error.operation == .recognize ? .unreadable : LastRun(files: files, path: error.path).summary()
      var exit = previous ?? PreviousExit(of: run, bootID: facts.bootID)
      if error.operation == .lock { exit.kind = .stillRunning }
      // A file that cannot be opened may have runs.
      if previous == nil, exit.kind == .firstRun { exit.kind = .unknown }
      let failure = error.operation == .lock ? heldFailure(error.path, by: run) : error
      outage = Outage(failure: failure, since: header.instant, lost: 0)
      return (exit, [.failed(failure)])
    }
  }

  private func heldFailure(_ path: String, by run: RunSummary) -> JournalFailure {
    let holder = run.header.map { "process \($0.processID) (\($0.program.printable))" } ?? "another program"
    return JournalFailure(.lock, path, reason: "\(holder) writes it")
  }

  /// Appends a record; returns whether it is in the file, and adds the notices to post.
  mutating func append(_ record: LifecycleRecord, flushes: Bool, _ notices: inout [Notice]) -> Bool {
    guard !isClosed else { return false }
    defer { (state, lastInstant) = (record.state, record.instant) }
    encode(record)
    return appendLine(
      at: record.instant, begins: record.kind == .input, flushes: flushes, leaving: Room(for: record), &notices)
  }

  /// Appends an entry of the ledger; returns whether it is in the file, and adds the notices to post.
  mutating func append(_ entry: LedgerEntry, _ notices: inout [Notice]) -> Bool {
    guard !isClosed else { return false }
    // Of concurrent calls, the one that began last may end first. Use the latest end, so that the times in the file do
    // not decrease.
    lastInstant = max(lastInstant, entry.ended)
    encode(entry)
    return appendLine(at: lastInstant, begins: false, flushes: false, &notices)
  }

  /// Handles a fired timer of the heartbeat: writes a line that the program still runs, if one is due; returns the next
  /// step.
  mutating func beat(_ number: Int, at now: Duration, _ notices: inout [Notice]) -> Heartbeat.Step? {
    guard !isClosed else { return nil }
    let (isDue, next) = heartbeat.timerWentOff(number, at: now)
    guard isDue else { return next }
    lastInstant = max(lastInstant, now)
    line.removeAll()
    line.append("{\"journal\":\"alive\",\"t\":")
    line.append(seconds: lastInstant)
    line.append("}\n")
    _ = appendLine(at: lastInstant, begins: true, flushes: false, isCounted: false, &notices)
    return next
  }

  private mutating func appendLine(
    at instant: Duration, begins: Bool, flushes: Bool, isCounted: Bool = true, leaving room: Room = .ordinary,
    _ notices: inout [Notice]
  ) -> Bool {
    do throws(JournalFailure) {
      // What another program has put under the path must not be rotated.
      let rotates = mustMakeRoom
      if flushes || !isCounted || rotates { noticeLossOfFile() }
      // Check once a transition: a check for each record would cost a good part of the time for writing it.
      if begins || rotates { noticeCut() }
      if file == nil { try reopen(at: instant) }
      if mustMakeRoom {
        do throws(JournalFailure) {
          try rotate(at: instant)
          nextRotation = nil
        } catch {
          if nextRotation == nil { notices.append(.failed(error)) }
          postponeRotation()
        }
      }
      // Only a flush that works ends an outage of flushes. Lines that are lost in one are named before the next line.
      let isOver = outage.map { $0.failure.operation != .flush || flushes && $0.lost > 0 } ?? false
      let gap = isOver ? outage.map { self.gap(of: $0, at: instant) } : nil
      let mark = clock.successor(
        JournalClockMark(instant: instant, wallTime: facts.wallTime(), uptime: facts.uptime()))
      if gap != nil || mark != nil || isTorn {
        let before = (gap.map { $0.jsonLine + "\n" } ?? "") + (mark.map { $0.jsonLine + "\n" } ?? "")
        try reserve(before.utf8.count + line.count, leaving: .ordinary)
        try write(before + line.text)
      } else {
        try reserve(line.count, leaving: .ordinary)
        try write(line.bytes)
      }
      if isCounted { file?.records += 1 }
      if let mark { clock = mark }
      if let gap {
        outage = nil
        notices.append(.recovered(gap))
      }
    } catch {
      notices += fail(error, at: instant)
      guard error.operation == .write, appendInReserve(at: instant, leaving: room) else {
        if isCounted { outage?.lost += 1 }
        return false
      }
    }
    guard flushes, let descriptor = file?.descriptor else { return true }
    do throws(FileError) {
      try flushNames()
      try files.flush(descriptor)
    } catch {
      notices += fail(JournalFailure(.flush, path, error), at: instant)
      return false
    }
    endOutageOfFlushes(at: instant, &notices)
    return true
  }

  /// Writes the gap of an outage that a flush has ended; if that fails, the next flush tries again.
  private mutating func endOutageOfFlushes(at instant: Duration, _ notices: inout [Notice]) {
    guard let outage, outage.failure.operation == .flush else { return }
    let gap = gap(of: outage, at: instant)
    let text = gap.jsonLine + "\n"
    do throws(JournalFailure) {
      try reserve(text.utf8.count, leaving: .ordinary)
      try write(text)
    } catch { return }
    self.outage = nil
    notices.append(.recovered(gap))
  }

  /// Whether the file must be put aside before the line can be written.
  private var mustMakeRoom: Bool {
    file?.mustMakeRoom(for: line.count, within: nextRotation ?? configuration.maximumSize) == true
  }

  /// Flushes the directory after a file was made or renamed, and those above it after directories were made: without its
  /// name, a flushed file is lost with the machine.
  private mutating func flushNames() throws(FileError) {
    guard hasNewNames else { return }
    try files.flushNames(in: JournalFiles.directory(of: path), andAbove: hasNewDirectories)
    (hasNewNames, hasNewDirectories) = (false, false)
  }

  /// Begins an outage, or continues one, which has already been reported; returns the notices to post.
  private mutating func fail(_ failure: JournalFailure, at instant: Duration) -> [Notice] {
    // A failed write is more than a failed flush, which it follows.
    if let outage, outage.isReported, outage.failure.operation != .flush || failure.operation == .flush { return [] }
    outage = Outage(failure: failure, since: outage?.since ?? instant, lost: outage?.lost ?? 0)
    if failure.operation == .write { noteStop(at: instant) }
    return [.failed(failure)]
  }

  /// Closes the file; first writes the gap of an outage, if that is possible.
  mutating func close() {
    guard !isClosed else { return }
    isClosed = true
    heartbeat = Heartbeat(interval: nil)
    if let outage, file != nil, !files.isForked {
      if (try? write(gap(of: outage, at: lastInstant).jsonLine + "\n")) != nil { self.outage = nil }
    }
    release()
  }

  // MARK: Lines

  /// Encodes a record as a line; cuts very long texts, because readers reject lines of more than 1 MiB.
  private mutating func encode(_ record: LifecycleRecord) {
    line.removeAll()
    line.append(record)
    line.append("\n")
    if line.count > 1 << 20 { encode(record.cut(to: 40_000)) }
  }

  private mutating func encode(_ entry: LedgerEntry) {
    line.removeAll()
    line.append(plain: entry.jsonLine)
    line.append("\n")
    if line.count > 1 << 20 { encode(entry.cut(to: 40_000)) }
  }

  /// Writes the header with which the run begins or continues in this file, after ending an incomplete last line.
  ///
  /// If the header cannot be written, the file is closed: further lines would belong to no run.
  mutating func beginFile(at instant: Duration) throws(JournalFailure) {
    let next = nextHeader(at: instant)
    do throws(JournalFailure) {
      try write(next.jsonLine + "\n")
    } catch {
      release()
      throw error
    }
    header = next
    clock = JournalClockMark(of: next)
    file?.headerLength = Int64(next.jsonLine.utf8.count + 1)
    armCrashLine(at: instant)
  }

  func nextHeader(at instant: Duration) -> RunHeader {
    var next = header
    next.part += 1
    next.instant = instant
    next.wallTime = facts.wallTime()
    next.uptime = facts.uptime()
    next.state = state
    return next
  }

  /// Writes text by one call, after ending an incomplete last line; truncates the file if only a part could be written.
  mutating func write(_ text: String) throws(JournalFailure) {
    let text = Array((isTorn ? "\n" + text : text).utf8)
    try text.withUnsafeBufferPointer { (bytes) throws(JournalFailure) in try write(UnsafeRawBufferPointer(bytes)) }
    isTorn = false
  }

  mutating func write(_ bytes: UnsafeRawBufferPointer) throws(JournalFailure) {
    guard let file else { return }
    do throws(FileError) {
      try Self.write(bytes, to: file, files)
    } catch {
      // A part of the line may be in the file, if truncating it failed, too.
      isTorn = isTorn || !endsWithLineEnd(file.descriptor)
      throw JournalFailure(.write, path, error)
    }
    self.file?.size += Int64(bytes.count)
  }

  /// Writes all bytes, or truncates what was written of them; nothing beyond the limit, as that would end the process.
  static func write(_ bytes: UnsafeRawBufferPointer, to file: OpenFile, _ files: any FileCalls) throws(FileError) {
    if let limit = file.limit, file.size + Int64(bytes.count) > limit { throw .fileTooLarge }
    var written = 0
    do throws(FileError) {
      try files.writeAll(bytes, to: file.descriptor, &written)
    } catch {
      if written > 0, let size = try? files.status(of: file.descriptor).size {
        try? files.truncate(file.descriptor, to: size - Int64(written))
      }
      throw error
    }
  }
}

extension JournalClockMark {
  /// Returns the present mark if one of its clocks differs by more than a second from what this mark predicts; else nil.
  fileprivate func successor(_ present: JournalClockMark) -> JournalClockMark? {
    let passed = present.instant - instant
    func hasDrifted(_ before: Duration, _ now: Duration) -> Bool {
      let drift = now - before - passed
      return drift > .seconds(1) || drift < .seconds(-1)
    }
    var isNew = hasDrifted(wallTime, present.wallTime)
    if let uptime, let now = present.uptime { isNew = isNew || hasDrifted(uptime, now) }
    return isNew ? present : nil
  }
}

extension LifecycleRecord {
  /// Returns the record with texts of `count` characters at most.
  fileprivate func cut(to count: Int) -> LifecycleRecord {
    var record = self
    record.name = name.cut(to: count)
    record.cause = LifecycleCause(rawValue: cause.rawValue.cut(to: count))
    record.scene = scene?.cut(to: count)
    record.reason = reason?.cut(to: count)
    return record
  }
}

extension LedgerEntry {
  /// Returns the entry with texts of `count` characters at most.
  fileprivate func cut(to count: Int) -> LedgerEntry {
    var outcome = outcome
    if case .failed(let error) = outcome { outcome = .failed(error.cut(to: count)) }
    return LedgerEntry(
      kind, label: name.cut(to: count), source: nil, step: step.cut(to: count), began: began, duration: duration,
      outcome: outcome)
  }
}

extension String {
  fileprivate func cut(to count: Int) -> String { String(unicodeScalars.prefix(count)) }
}
