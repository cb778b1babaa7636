import AppLifecycle
import LifecycleJournal

/// `lifecycle log`: prints a journal, for people or for programs.
struct LogCommand: Action {
  var path = ""
  var follows = false
  var selection = Selection()
  var isJSON = false
  var color = Paint.Choice.auto

  init?(_ arguments: inout Arguments) throws(UsageError) {
    while let argument = try arguments.next() {
      switch argument {
      case .option("--help"), .option("-h"): return nil
      case .option("--follow"), .option("-f"): follows = true
      case .option("--json"): isJSON = true
      case .option("--color"): color = try arguments.choice(of: "--color")
      case .option(let option):
        if try selection.take(option, &arguments) { continue }
        throw UsageError(unknownOption: option, of: "log")
      case .operand(let file): try path.takeFile(file, for: "log")
      }
    }
    if path.isEmpty { throw UsageError("'log' needs a journal: lifecycle log FILE") }
  }

  func run() throws -> ExitStatus {
    let wanted = try selection.resolved(in: path)
    // With a selection, no output appears until the selected part is reached.
    let progress = Progress(isBesideOutput: !selection.isNarrow)
    let scan = JournalScan(seeking: wanted.session, progress: progress)
    var page = LogTable(paint: Paint(color), isJSON: isJSON, width: Terminal.width)
    let take = { (item: JournalScan.Item) in
      if !wanted.includesRun(of: item) || wanted.isBefore(item) || wanted.isAfter(item) { return }
      scan.complain(about: item)
      page.add(item)
      guard page.text.utf8.count > 60_000 else { return }
      progress?.clear()
      try page.flush()
    }
    /// Reads, and prints what was read, also before a failure: it may be the most important part.
    func printing<Result>(_ read: () throws -> Result) throws -> Result {
      let result: Result
      do { result = try read() } catch {
        try? page.flush()
        throw error
      }
      try page.flush()
      return result
    }
    let reader = try printing { try scan.read(path, ending: follows ? .isAwaited : .isReported, take) }
    if follows {
      try Follower(path: path, reader: reader).run { reader in try printing { try scan.read(reader, take) } }
    }
    scan.sumUpComplaints()
    if !follows { try wanted.session?.check(in: path, of: scan) }
    return scan.status
  }
}

extension JournalScan.Item {
  /// The wall-clock time of the line; nil if the line does not give it.
  var wallTime: Duration? {
    switch entry.content {
    case .line(.record(let record)): run.wallTime(at: record.instant)
    case .line(.entry(let entry)): run.wallTime(at: entry.ended)
    case .line(.run(let header)): header.wallTime
    case .line(.gap(let gap)): run.wallTime(at: gap.instant)
    case .line(.clock(let mark)): mark.wallTime
    case .line(.crash(let crash)): run.wallTime(at: crash.instant)
    case .line(.stopped(let stop)): run.wallTime(at: stop.instant)
    case .line(.alive(let instant)): run.wallTime(at: instant)
    case .line(.unknown), .damaged: run.header.map { _ in run.wallTime(at: run.lastInstant) }
    }
  }
}
