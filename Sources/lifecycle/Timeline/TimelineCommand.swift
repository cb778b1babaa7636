import LifecycleJournal

/// `lifecycle timeline`: a journal as a picture, or as a trace for a viewer of traces.
struct TimelineCommand: Equatable {
  /// What is made, as the file's name says.
  enum Form: String, CaseIterable {
    case html, json
  }

  var path: String
  var output: String
  var form = Form.html
  var session: SessionChoice?

  /// Reads the arguments; nil for help.
  init?(_ arguments: inout Arguments) throws(UsageError) {
    var path: String?
    var output: String?
    var form: Form?
    var session: SessionChoice?
    while let argument = try arguments.next() {
      switch argument {
      case .option("--help"), .option("-h"): return nil
      case .option("-o"), .option("--output"): output = try arguments.value(of: "-o", "a file: page.html or trace.json")
      case .option("--format"): form = try arguments.choice(of: "--format")
      case .option("--session"):
        session = SessionChoice(try arguments.value(of: "--session", "a number, 'last', or the run's name"))
      case .option(let option): throw UsageError(unknownOption: option, of: "timeline")
      case .operand(let file): try path.takeFile(file, for: "timeline")
      }
    }
    guard let path else { throw UsageError("'timeline' needs a journal: lifecycle timeline FILE -o page.html") }
    guard let output else { throw UsageError("'timeline' needs -o: page.html, trace.json, or - with --format") }
    guard let form = form ?? output.split(separator: ".").last.flatMap({ Form(rawValue: String($0)) }) else {
      throw UsageError("what '\(output)' is to be is said by its ending, .html or .json, or by --format")
    }
    (self.path, self.output, self.form, self.session) = (path, output, form, session)
  }

  func run() throws -> ExitStatus {
    let wanted = try session?.resolved(in: path)
    let scan = JournalScan()
    var runs: [TimelineRun] = []
    var exits: [Int: PreviousExit.Kind] = [:]
    let isHeld = JournalFiles.isHeld(path, files: SystemFiles())
    let bootID = RunFacts.ofThisProcess().bootID
    scan.didEndRun = { session, run, next in
      exits[session] =
        next == nil && isHeld ? .stillRunning : PreviousExit(of: run, bootID: next.map(\.bootID) ?? bootID).kind
    }
    try scan.read(path, progress: Progress()) { item in
      if let wanted, !wanted.matches(item) { return }
      scan.complain(about: item)
      guard item.session > 0, case .line(let line) = item.entry.content else { return }
      if runs.last?.session != item.session { runs.append(TimelineRun(session: item.session)) }
      runs[runs.count - 1].take(line, of: item.run)
    }
    try scan.finish()
    scan.sumUpComplaints()
    try wanted?.check(in: path, of: scan)
    let title = path.split(separator: "/").last.map(String.init) ?? path
    let text =
      switch form {
      case .html: TimelinePage(runs: runs, title: title, exits: exits).html
      case .json: TraceEvents(runs: runs).json
      }
    if output == "-" {
      try StandardStreams.write(text, to: .output)
    } else {
      try StandardStreams.write(text, toFile: output)
    }
    return scan.status
  }
}
