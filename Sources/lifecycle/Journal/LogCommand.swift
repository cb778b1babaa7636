import AppLifecycle
import LifecycleJournal

/// `lifecycle log`: prints a journal, for people or for programs.
struct LogCommand: Action {
  let path: String
  var follows = false
  var selection = Selection()
  var isJSON = false
  var color = Paint.Choice.auto

  init(_ arguments: inout Arguments) throws(UsageError) {
    while let option = try arguments.nextOption() {
      switch option {
      case "--follow", "-f": follows = true
      case "--json": isJSON = true
      case "--color": color = try arguments.choice(of: option)
      default: try selection.take(option, &arguments)
      }
    }
    path = try arguments.journal()
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
    if case .line(let line) = entry.content, let instant = line.instant { return run.wallTime(at: instant) }
    return run.header.map { _ in run.wallTime(at: run.lastInstant) }
  }
}
