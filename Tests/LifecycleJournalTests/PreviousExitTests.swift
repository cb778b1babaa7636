import AppLifecycle
import AppLifecycleTesting
import LifecycleJournal
import PubSub
import TestFiles
import TestTraits
import Testing

@Suite(.timeLimit(.hang)) @MainActor struct PreviousExitTests {
  private let directory: TemporaryDirectory
  private let path: String

  init() throws {
    directory = try TemporaryDirectory()
    path = directory.file()
  }

  private func open(bootID: String? = "boot-1", processID: Int32 = 7) -> Journal {
    Journal(
      at: path, configuration: .init(), bus: nil, instant: .zero, files: SystemFiles(),
      facts: .made(processID: processID, bootID: bootID))
  }

  /// Plays a script with a journal, whose file then is as that of a program that has vanished.
  private func run(_ script: String) async throws {
    let system = SimulatedSystem()
    let journal = Journal(
      at: path, of: system.application, configuration: .init(), files: SystemFiles(), facts: .made())
    try await system.play(script)
    journal.close()
  }

  @Test(
    arguments: [
      ("", "unknown"), ("home", "unknown"), ("launch", "killed in the foreground"),
      ("launch; crash", "crashed in the foreground"),
      ("launch; interrupt:call", "killed in the foreground"), ("launch; home", "killed in the background"),
      ("launch; home; crash", "crashed in the background"), ("launch:background", "killed in the background"),
      ("launch; home; wait:5s", "killed while suspended"), ("launch; home; wait:5s; memory", "killed while suspended"),
      ("launch; home; suspend; reclaim", "killed while suspended"),
      ("launch; home; suspend; kill", "killed while suspended"),
      ("launch; home; suspend; wake", "killed in the background"), ("launch; kill", "terminated"),
      ("launch; home; kill; home; memory", "terminated"), ("launch; kill; launch", "killed in the foreground"),
      ("launch; kill; launch; crash", "crashed in the foreground"), ("launch; reboot", "the device restarted"),
      ("launch; reboot; launch; kill", "terminated"), ("launch; switcher; switcher:kill", "terminated"),
    ] as [(String, String)])
  func `how a run ended is told by what it was told last`(script: String, text: String) async throws {
    try await run(script)
    let exit = open().previousExit
    #expect(exit.text == text, "\(exit)")
    #expect(exit.run.header?.processID == 7 && exit.run.damagedLines == 0)
  }

  @Test func `a new journal knows no run, one that holds something else none either`() throws {
    #expect(open().previousExit.kind == .firstRun)
    try write("#!/bin/sh\nrm -rf everything\n", to: directory.file("other.jsonl"))
    let other = Journal(at: directory.file("other.jsonl"))
    #expect(other.previousExit.kind == .unknown && other.previousExit.evidence == "no run can be read")
    #expect(text(of: directory.file("other.jsonl")) == "#!/bin/sh\nrm -rf everything\n")
  }

  @Test(
    arguments: [
      ("launch", "boot-2", "the device restarted"), ("launch; home; wait:5s", "boot-2", "the device restarted"),
      ("launch; kill", "boot-2", "terminated"), ("launch", nil, "killed in the foreground"),
    ] as [(String, String?, String)])
  func `a device that was started anew since is told apart, but from a run that had ended`(
    script: String, bootID: String?, text: String
  ) async throws {
    try await run(script)
    let exit = open(bootID: bootID).previousExit
    #expect(exit.text == text)
    if exit.kind == .deviceRestarted { #expect(exit.evidence.contains("boot boot-1, now boot-2")) }
  }

  @Test(
    arguments: [
      (["watchdog:feed"], "ended by the watchdog"), (["backgroundTimeExpired:upload"], "ended by the watchdog"),
      (["taskEndedTwice:upload"], "killed in the background"),
      (["watchdog:feed", "inactive"], "killed in the foreground"),
      (["watchdog:feed", "suspended"], "killed while suspended"),
      (["watchdog:feed", "notRunning"], "ended by the watchdog"),
      (["watchdog:feed", "fetch"], "killed in the background"), (["fetch", "watchdog:feed"], "ended by the watchdog"),
    ] as [([String], String)])
  func `an overrun is the reason until the application gets on`(names: [String], text: String) async throws {
    let journal = open()
    var state = ApplicationState.background
    journal.append(LifecycleRecord(instant: .zero, kind: .state, name: "background", state: state, cause: "home"))
    for name in names {
      state = ApplicationState(rawValue: name) ?? state
      let kind: LifecycleRecord.Kind =
        if name.contains(":") { .report } else if name == "fetch" { .input } else { .state }
      journal.append(LifecycleRecord(instant: .zero, kind: kind, name: name, state: state, cause: "home"))
    }
    journal.close()
    let exit = open().previousExit
    #expect(exit.text == text, "\(exit)")
    if exit.kind == .watchdog { #expect(exit.evidence.contains("watchdog:feed") || exit.evidence.contains(names[0])) }
  }

  @Test func `a late release outside a tear-down is no reason`() {
    let journal = open()
    for (kind, name) in [(.state, "active"), (.report, "watchdog:feed")] as [(LifecycleRecord.Kind, String)] {
      journal.append(
        LifecycleRecord(instant: .zero, kind: kind, name: name, state: .active, cause: "release of feed"))
    }
    journal.close()
    #expect(open().previousExit.text == "killed in the foreground")
  }

  @Test func `the last run counts, and a line that was being written does not`() async throws {
    try await run("launch; kill")
    try await run("launch; home")
    try write(text(of: path) + #"{"t":9.0,"kind":"sta"#, to: path)
    let exit = open().previousExit
    #expect(exit.text == "killed in the background" && exit.run.damagedLines == 1)
    #expect(exit.description.hasPrefix("killed in the background (process 7, last state background; last record"))
    // The next run's lines are whole all the same.
    #expect(entries(of: path).headers.count == 3 && entries(of: path).damage == [.notJSON])
  }

  @Test(.longRunning) func `a run is found behind any number of its lines, and behind lines that look like its first`()
    throws
  {
    let journal = open()
    for number in 0..<5_000 {
      var record = numbered(number, state: .suspended)
      record.name = "\n{\"journal\":\"run\","
      journal.append(record)
    }
    journal.close()
    try write(text(of: path) + "{\"journal\":\"run\",\"version\":1}\n", to: path)
    let exit = open().previousExit
    #expect(exit.text == "killed while suspended" && exit.run.records == 5_000 && exit.run.damagedLines == 1)
  }

  // MARK: Crashes

  @Test(arguments: [
    ("launch", "crashed in the foreground, SIGSEGV", ApplicationState.active),
    ("launch; home", "crashed in the background, SIGSEGV", .background),
    ("launch; home; wait:5s", "crashed while suspended, SIGSEGV", .suspended),
    ("", "crashed before its launch, SIGSEGV", .notRunning),
    ("launch; kill", "crashed after its end, SIGSEGV", .notRunning),
  ])
  func `a fatal signal is a crash, whatever the state`(script: String, text: String, state: ApplicationState)
    async throws
  {
    try await run(script)
    let crash = JournalCrash(instant: .seconds(90), signal: "SIGSEGV").jsonLine
    // The line was cut by the crash, and the handler's line follows it.
    try write(TestFiles.text(of: path) + "{\"t\":8.0,\"ki\n" + crash + "\n", to: path)
    // A restart of the device since then changes nothing.
    let exit = open(bootID: "boot-2").previousExit
    #expect(exit.kind == .crashed && exit.state == state && exit.text == text, "\(exit)")
    #expect(exit.run.crash == JournalCrash(instant: .seconds(90), signal: "SIGSEGV"))
    #expect(exit.run.lastInstant == .seconds(90) && exit.run.hasEnded)
  }

  @Test func `a process that goes on after a fatal signal has not crashed`() {
    var run = RunSummary()
    run.take(.record(LifecycleRecord(instant: .zero, kind: .state, name: "active", state: .active, cause: "launch")))
    run.take(.crash(JournalCrash(instant: .seconds(1), signal: "SIGABRT")))
    #expect(PreviousExit(of: run, bootID: nil).kind == .crashed)
    run.take(.alive(.seconds(60)))
    #expect(PreviousExit(of: run, bootID: nil).kind == .killed && run.crash == nil)
  }

  /// The other threads run on while the handler of the signal ends the process.
  @Test func `lines that follow a fatal signal at once are no sign of survival, those two seconds later are`() {
    let late = { (instant: Duration) in
      JournalLine.record(
        LifecycleRecord(instant: instant, kind: .notification, name: "n", state: .active, cause: "test"))
    }
    var run = RunSummary()
    run.take(.record(LifecycleRecord(instant: .zero, kind: .state, name: "active", state: .active, cause: "launch")))
    run.take(.crash(JournalCrash(instant: .seconds(1), signal: "SIGSEGV")))
    run.take(late(.seconds(1) + .microseconds(50)))
    run.take(.alive(.milliseconds(2_999)))
    #expect(PreviousExit(of: run, bootID: nil).kind == .crashed && run.hasEnded)
    #expect(run.crash?.instant == .seconds(1))
    run.take(late(.seconds(3)))
    #expect(PreviousExit(of: run, bootID: nil).kind == .killed && run.crash == nil)
  }

  @Test func `a process that ends in order after a fatal signal has not crashed`() {
    var run = RunSummary()
    for record in [
      LifecycleRecord(instant: .zero, kind: .state, name: "background", state: .background, cause: "launch"),
      LifecycleRecord(
        instant: .seconds(1), kind: .delegate, name: "applicationWillTerminate", state: .background, cause: "kill"),
      LifecycleRecord(instant: .seconds(1), kind: .state, name: "notRunning", state: .notRunning, cause: "kill"),
    ] {
      run.take(.record(record))
      if record.name == "background" { run.take(.crash(JournalCrash(instant: .seconds(1), signal: "SIGFPE"))) }
    }
    #expect(PreviousExit(of: run, bootID: nil).kind == .terminated)
  }

  @Test func `a crash while the application ends in order is a crash`() {
    var run = RunSummary()
    let record = { (kind: LifecycleRecord.Kind, name: String, state: ApplicationState) in
      JournalLine.record(
        LifecycleRecord(instant: .seconds(1), kind: kind, name: name, state: state, cause: "kill"))
    }
    run.take(record(.state, "background", .background))
    run.take(record(.delegate, "applicationWillTerminate", .background))
    run.take(.crash(JournalCrash(instant: .seconds(1), signal: "SIGFPE")))
    run.take(record(.state, "notRunning", .notRunning))
    #expect(PreviousExit(of: run, bootID: nil).kind == .crashed)
  }

  @Test func `a process that runs on after an overrun was not ended for it`() {
    var run = RunSummary()
    let overrun = { (instant: Duration) in
      JournalLine.record(
        LifecycleRecord(instant: instant, kind: .report, name: "watchdog:feed", state: .background, cause: "home"))
    }
    run.take(
      .record(LifecycleRecord(instant: .zero, kind: .state, name: "background", state: .background, cause: "home")))
    run.take(overrun(.seconds(5)))
    #expect(PreviousExit(of: run, bootID: nil).kind == .watchdog)
    run.take(.alive(.seconds(65)))
    let exit = PreviousExit(of: run, bootID: nil)
    #expect(exit.text == "killed in the background")
    run.take(overrun(.seconds(70)))
    #expect(PreviousExit(of: run, bootID: nil).kind == .watchdog)
  }

  @Test func `the summary keeps a part of a very long name of an overrun`() throws {
    var run = RunSummary()
    let name = "watchdog:" + String(repeating: "x", count: 1 << 20)
    run.take(.record(LifecycleRecord(instant: .zero, kind: .state, name: "active", state: .active, cause: "launch")))
    run.take(.record(LifecycleRecord(instant: .zero, kind: .report, name: name, state: .active, cause: "home")))
    let kept = try #require(run.overruns.first)
    #expect(kept.hasPrefix("watchdog:xxx") && kept.unicodeScalars.count <= 501)
  }

  @Test(arguments: ["SIGSEGV\\u001b[2J", "sigsegv", "", "SIGSEGVSIGSEGVSIGSEGV"])
  func `the name of a signal is nothing else`(name: String) {
    let line = "{\"journal\":\"crash\",\"t\":1.0,\"signal\":\"\(name)\"}\n"
    #expect(Array(JournalReader(source: MemorySource(Array(line.utf8)))).damage == [.notInFormat])
  }

  @Test func `evidence is shown, not obeyed`() {
    let journal = open()
    journal.append(
      LifecycleRecord(instant: .zero, kind: .state, name: "a\u{1B}[2J", state: .active, cause: "launch"))
    journal.append(
      LifecycleRecord(instant: .zero, kind: .report, name: "watchdog:\u{9B}2J", state: .active, cause: "home"))
    journal.close()
    let text = open().previousExit.description
    #expect(!text.unicodeScalars.contains { $0.properties.generalCategory == .control }, "\(text)")
  }

  // MARK: Two at a time

  @Test func `a second one on the same file is refused, told whose it is, and takes over when the first has gone`()
    throws
  {
    let first = open(processID: 41)
    first.append(numbered(1))
    let bus = EventBus()
    let second = Journal(
      at: path, configuration: .init(), bus: bus, instant: .zero, files: SystemFiles(), facts: .made(processID: 42))
    #expect(second.previousExit.kind == .stillRunning && second.previousExit.run.header?.processID == 41)
    #expect(second.failure?.description == "cannot lock \(path): process 41 (trips) writes it")
    #expect(!second.append(numbered(2)))
    first.append(numbered(3))
    first.close()
    #expect(second.append(numbered(4)) && !first.append(numbered(5)))
    let entries = entries(of: path)
    #expect(entries.records.map(\.name) == ["n1", "n3", "n4"] && entries.gaps.map(\.lost) == [1])
    #expect(entries.headers.map(\.processID) == [41, 42])
  }

  @Test func `or has a file of its own, and each finds its own run again`() throws {
    var configuration = Journal.Configuration()
    configuration.contention = .ownFile
    func open(_ processID: Int32) -> Journal {
      Journal(
        at: path, configuration: configuration, bus: nil, instant: .zero, files: SystemFiles(),
        facts: .made(processID: processID))
    }
    do {
      let (first, second, third) = (open(1), open(2), open(3))
      #expect([first, second, third].map(\.path) == ["", "-2", "-3"].map { directory.file("journal\($0).jsonl") })
      #expect(third.previousExit.kind == .firstRun && third.failure == nil)
      for journal in [first, second, third] { #expect(journal.append(numbered(1))) }
      second.close()
      #expect(open(4).path == second.path)
    }
    #expect(open(5).previousExit.run.header?.processID == 1)
  }

  @Test func `reading does not disturb the writer`() throws {
    let journal = open()
    journal.append(numbered(1))
    let reader = try JournalReader(path: path, ending: .isAwaited)
    #expect(Array(reader).records.map(\.name) == ["n1"])
    #expect(reader.next() == nil)
    journal.append(numbered(2))
    #expect(Array(reader).records.map(\.name) == ["n2"])
    _ = entries(of: path)
    #expect(open().previousExit.kind == .stillRunning)
  }
}
