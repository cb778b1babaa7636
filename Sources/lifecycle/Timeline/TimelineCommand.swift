import LifecycleJournal

/// `lifecycle timeline`: writes a journal as a page, or as a trace for a viewer.
struct TimelineCommand: Action {
  /// The format of the output.
  enum Form: String, CaseIterable {
    case html, json
  }

  let path: String
  let output: String
  let form: Form
  var selection = Selection()

  init(_ arguments: inout Arguments) throws(UsageError) {
    var form: Form?
    var output = ""
    while let option = try arguments.nextOption() {
      switch option {
      case "-o", "--output": output = try arguments.value(of: "-o", "a file: page.html or trace.json")
      case "--format": form = try arguments.choice(of: option)
      default: try selection.take(option, &arguments)
      }
    }
    path = try arguments.journal()
    if output.isEmpty { throw UsageError("'timeline' needs -o: page.html, trace.json, or - with --format") }
    guard let form = form ?? output.split(separator: ".").last.flatMap({ Form(rawValue: String($0)) }) else {
      throw UsageError("choose the format of '\(output)' by its ending, .html or .json, or by --format")
    }
    (self.form, self.output) = (form, output)
  }

  func run() throws -> ExitStatus {
    let file = try OutputFile(output, besides: path)
    let wanted = try selection.resolved(in: path)
    let progress = Progress(isBesideOutput: output == "-" && form == .json)
    let scan = JournalScan(seeking: wanted.session, progress: progress)
    switch form {
    case .html: try makePage(file, wanted, scan)
    case .json: try makeTrace(file, wanted, scan)
    }
    return scan.status
  }

  private func makePage(_ file: OutputFile, _ wanted: Selection.Resolved, _ scan: JournalScan) throws {
    let reading = TimelineReading(of: path, wanted: wanted, scan: scan, into: TimelineRuns())
    var failure: (any Error)?
    do {
      try reading.run()
      try wanted.session?.check(in: path, of: scan)
    } catch { failure = error }
    var runs = reading.picture
    // The part that was read before the failure may be the most important one, so the page shows it.
    if let failure, runs.runs.isEmpty { throw failure }
    runs.finish()
    let title = path.split(separator: "/").last.map(String.init) ?? path
    let omission = runs.omission(undrawn: reading.undrawn)
    try TimelinePage(runs: runs.runs, title: title, omission: omission).write(to: file)
    try file.finish()
    complain(omission)
    if let failure { throw failure }
  }

  private func makeTrace(_ file: OutputFile, _ wanted: Selection.Resolved, _ scan: JournalScan) throws {
    let reading = TimelineReading(of: path, wanted: wanted, scan: scan, into: TraceEvents(to: file))
    do {
      try reading.run()
      try wanted.session?.check(in: path, of: scan)
    } catch {
      // The part that was read before the failure may be the most important one, so the trace is finished.
      var trace = reading.picture
      if file.hasBegun { try? trace.finish() }
      throw error
    }
    var trace = reading.picture
    try trace.finish()
    complain(TimelineRuns.withoutLane(reading.undrawn))
  }

  private func complain(_ omission: String?) {
    guard let omission else { return }
    try? StandardStreams.write("lifecycle: \(omission)\n", to: .error)
  }
}
