import AppLifecycle
import LifecycleJournal
import TestFiles
import TestTraits
import Testing

/// The last run is read from the end of the journal, and is the one that a reading from its beginning finds last.
@Suite(.timeLimit(.hang)) struct LastRunTests {
  private let directory: TemporaryDirectory
  private let path: String

  init() throws {
    directory = try TemporaryDirectory()
    path = directory.file()
  }

  private func found(chunk: Int = 64 * 1_024) -> RunSummary {
    LastRun(files: SystemFiles(), path: path, chunk: chunk).summary()
  }

  /// The summary of the last run by a reading of all files, oldest first.
  private var expected: RunSummary {
    var run = RunSummary()
    for entry in entries(of: path) {
      if entry.content.beginsRun(after: run) { run = RunSummary() }
      switch entry.content {
      case .line(let line): run.take(line)
      case .damaged(let damage): run.take(damage)
      }
    }
    return run
  }

  private func header(_ run: String, part: Int = 0, state: ApplicationState = .notRunning) -> String {
    RunHeader(
      run: run, part: part, program: "trips", processID: 7, bootID: nil, start: .seconds(1), wallTime: .seconds(1),
      state: state
    ).jsonLine
  }

  private func record(_ name: String, _ kind: LifecycleRecord.Kind, state: ApplicationState) -> String {
    LifecycleRecord(instant: .zero, kind: kind, name: name, state: state, cause: "kill").jsonLine
  }

  /// The format allows any JSON of the same meaning.
  @Test(arguments: [
    (#"{"journal":"#, "{\"journal\"\t\t:"), (#"{"journal":"#, " \t{ \"journal\" : "),
    (#"{"journal":"#, #"{"\u006aournal":"#), (#""run","version":"#, #""r\u0075n","version":"#),
    (#"{"journal":"run","#, #"{"t":7,"journal":"run","#), (#"{"journal":"#, #"{"journal":"alive","journal":"#),
    (#""state":"#, #""later":[{"journal":7}],"state":"#), ("}", "}  \r"),
  ])
  func `a run is found by its first line, in whatever JSON`(text: String, other: String) throws {
    let first = header("b2")
    let line = first.replacing(text, with: other)
    #expect(line != first)
    try write([header("a1"), numbered(1).jsonLine, line, numbered(2).jsonLine, ""].joined(separator: "\n"), to: path)
    #expect(found() == expected && found().header?.run == "b2" && found().records == 1)
  }

  @Test(arguments: [
    #"{"x":HEADER}"#, "HEADER HEADER", "HEADE", #"{"journal":"run","version":1}"#, "", " ", "\u{0}",
    #"{"journal":"run","version":1,"run":"b2","journal":"alive","t":1.0}"#,
    "x" + String(repeating: " ", count: 1 << 20),
    String(repeating: " ", count: 1 << 20) + "HEADER", "HEADER" + String(repeating: " ", count: 1 << 20),
  ])
  func `a line that only looks like the first of a run begins none`(line: String) throws {
    let line = line.replacing("HEADER", with: header("b2"))
    // The last line is a header without its line feed.
    let lines = [line, header("a1"), numbered(1).jsonLine, line, numbered(2).jsonLine, header("b2")]
    try write(lines.joined(separator: "\n"), to: path)
    #expect(found() == expected && found().header?.run == "a1" && found().records == 2)
  }

  @Test(.longRunning) func `wherever the reads cut the lines`() throws {
    let lines = [numbered(0).jsonLine, header("a1"), numbered(1).jsonLine, "", header("b2"), numbered(2).jsonLine]
    for end in ["", "\n", "\n\n", "\n{\"t\":"] {
      try write(lines.joined(separator: "\n") + end, to: path)
      for chunk in 1...600 { #expect(found(chunk: chunk) == expected && expected.header?.run == "b2") }
    }
  }

  private static let newer = #"{"journal":"run","version":2,"id":"c3"}"#

  /// A later version of the program has run in between; what its lines mean is unknown.
  @Test func `lines of a newer version belong to no run before or after them`() throws {
    let end = [
      record("background", .state, state: .background),
      record("applicationWillTerminate", .delegate, state: .background),
      record("notRunning", .state, state: .notRunning),
    ]
    let crash = JournalCrash(instant: .seconds(1), signal: "SIGSEGV").jsonLine
    let lines = [header("a1")] + end + [Self.newer, numbered(1).jsonLine, Self.newer, crash, ""]
    try write(lines.joined(separator: "\n"), to: path)
    #expect(found() == expected && found().header == nil && found().damagedLines == 2)
    let exit = PreviousExit(of: found(), bootID: nil)
    #expect(exit.kind == .unknown && exit.evidence == "the version of its format is newer than this program")
    // The older program again, whose run has the name of the one before.
    for part in [0, 1] {
      let more = [header("a1", part: part, state: .background)] + end + [""]
      try write((lines.dropLast() + more).joined(separator: "\n"), to: path)
      #expect(found() == expected && found().records == 3 && found().damagedLines == 0)
      #expect(PreviousExit(of: found(), bootID: nil).kind == .terminated)
    }
  }

  @Test func `a run of a newer version that fills whole files is unknown, and no kept file is added to it`() throws {
    try write([header("a1"), numbered(1).jsonLine, ""].joined(separator: "\n"), to: JournalFiles.kept(1, of: path))
    let crash = JournalCrash(instant: .seconds(1), signal: "SIGSEGV").jsonLine
    try write([Self.newer, crash, ""].joined(separator: "\n"), to: path)
    #expect(found() == expected && PreviousExit(of: found(), bootID: nil).kind == .unknown)
    #expect(Journal(at: path).previousExit.kind == .unknown)
  }

  /// As in a file that another program has cut while it was written.
  @Test func `a run that goes on in the same file is read from its beginning`() throws {
    let lines = [
      header("a1"), numbered(1).jsonLine, header("b2"), record("background", .state, state: .background),
      record("applicationWillTerminate", .delegate, state: .background), header("b2", part: 3, state: .background),
      record("notRunning", .state, state: .notRunning),
    ]
    try write(lines.map { $0 + "\n" }.joined(), to: path)
    #expect(found() == expected && found().records == 3)
    #expect(PreviousExit(of: found(), bootID: nil).kind == .terminated)
  }

  @Test func `a run that goes on after another one's lines begins there`() throws {
    try write([header("b2"), numbered(1).jsonLine, ""].joined(separator: "\n"), to: JournalFiles.kept(1, of: path))
    let lines = [header("a1"), numbered(2).jsonLine, header("b2", part: 1), numbered(3).jsonLine, ""]
    try write(lines.joined(separator: "\n"), to: path)
    #expect(found() == expected && found().records == 1)
  }

  /// A program that dies while it puts a file aside leaves that.
  @Test(arguments: [[1, 2], [2, 3]]) func `a run is read from kept files, also where one number is free`(kept: [Int])
    throws
  {
    try write(
      [header("a1"), numbered(1).jsonLine, header("b2"), record("background", .state, state: .background), ""]
        .joined(separator: "\n"), to: JournalFiles.kept(kept[1], of: path))
    let told = record("applicationWillTerminate", .delegate, state: .background)
    try write(
      [header("b2", part: 1, state: .background), told, ""].joined(separator: "\n"),
      to: JournalFiles.kept(kept[0], of: path))
    try write(
      [header("b2", part: 2, state: .background), record("notRunning", .state, state: .notRunning), ""]
        .joined(separator: "\n"), to: path)
    #expect(found() == expected && found().records == 3)
    #expect(PreviousExit(of: found(), bootID: nil).kind == .terminated)
  }

  @Test func `a file under two names is read once`() throws {
    let lines = [header("b2", part: 1, state: .background), numbered(1, state: .background).jsonLine, ""]
    try write(lines.joined(separator: "\n"), to: path)
    try SystemFiles().link(path, as: JournalFiles.kept(1, of: path))
    #expect(found() == expected && found().records == 1)
  }

  @Test func `a crash after the end is told from one before the launch, although the launch is in a kept file`() throws
  {
    let launch = record("applicationWillFinishLaunching", .delegate, state: .background)
    try write([header("b2"), launch, ""].joined(separator: "\n"), to: JournalFiles.kept(1, of: path))
    let commits = [ApplicationState.inactive, .background, .notRunning].map {
      record($0.rawValue, .state, state: $0)
    }
    let crash = JournalCrash(instant: .seconds(1), signal: "SIGSEGV").jsonLine
    let lines = [header("b2", part: 1, state: .background)] + commits + [crash, ""]
    try write(lines.joined(separator: "\n"), to: path)
    #expect(PreviousExit(of: found(), bootID: nil).text == "crashed after its end, SIGSEGV")
    #expect(PreviousExit(of: expected, bootID: nil).text == "crashed after its end, SIGSEGV")
  }
}
