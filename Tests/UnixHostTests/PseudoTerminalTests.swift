import Glibc
import PseudoTerminal
import PubSub
import Scheduling
import TestTraits
import Testing

/// The emulator shows what a terminal would show.
struct TerminalScreenTests {
  @Test func noOutputTrapsItOrMakesItGrow() {
    var tiny = screen("漢字a\u{301}", rows: 1, columns: 1)
    #expect(tiny.lines == ["a\u{301}"])
    tiny.resize(rows: 0, columns: -1)
    #expect(tiny.lines.count == 1 && tiny.columns == 1)
    #expect(screen("a" + String(repeating: "\u{301}", count: 1000)).text.unicodeScalars.count < 20)
    #expect(screen("\u{1B}]0;" + String(repeating: "x", count: 100_000) + "\u{7}").title.count < 5000)
    for final in "ABCDEFGHJKLMPSTX@`adefhlmrsu" {
      for number in ["0", "99999999999999999999", "9223372036854775807", ";9223372036854775808"] {
        #expect(screen("\u{1B}[\(number)\(final)\u{1B}[?\(number)\(final)\u{1B}M\u{1B}D\nx").rows == 4)
      }
    }
  }

  private func screen(_ text: String, rows: Int = 4, columns: Int = 10) -> TerminalScreen {
    var screen = TerminalScreen(rows: rows, columns: columns)
    screen.feed(text)
    return screen
  }

  @Test func textWrapsAtTheRightEdgeOnlyWhenMoreFollows() {
    #expect(screen("0123456789").lines == ["0123456789", "", "", ""])
    #expect(screen("0123456789").cursor == (0, 9))
    #expect(screen("0123456789A").lines == ["0123456789", "A", "", ""])
    #expect(screen("0123456789\r\nA").lines == ["0123456789", "A", "", ""])
  }

  @Test func wrapCanBeOff() {
    #expect(screen("\u{1B}[?7l0123456789AB").lines == ["012345678B", "", "", ""])
  }

  @Test func controlsMoveTheCursor() {
    #expect(screen("ab\rc").lines[0] == "cb")
    #expect(screen("ab\u{8}c").lines[0] == "ac")
    #expect(screen("a\tb").lines[0] == "a       b")
    #expect(screen("a\nb").lines == ["a", " b", "", ""])
  }

  @Test func theLastLineScrolls() {
    #expect(screen("1\r\n2\r\n3\r\n4\r\n5").lines == ["2", "3", "4", "5"])
  }

  @Test(arguments: [
    ("\u{1B}[2;3Hx", 1, 2), ("\u{1B}[2;3fx", 1, 2), ("\u{1B}[Hx", 0, 0), ("\u{1B}[3dx", 2, 0), ("\u{1B}[5Gx", 0, 4),
    ("\u{1B}[2Bx", 2, 0), ("\u{1B}[3Cx", 0, 3), ("\u{1B}[4;4H\u{1B}[2Ax", 1, 3), ("\u{1B}[4;4H\u{1B}[2Dx", 3, 1),
    ("\u{1B}[99;99Hx", 3, 9), ("\u{1B}[0;0Hx", 0, 0),
  ])
  func sequencesMoveTheCursor(text: String, row: Int, column: Int) {
    let lines = screen(text).lines
    #expect(lines[row] == String(repeating: " ", count: column) + "x")
    #expect(lines.count { !$0.isEmpty } == 1)
  }

  @Test(arguments: [
    ("K", ["abcdefghij", "klmn", "uvwxyzABCD"]), ("1K", ["abcdefghij", "     pqrst", "uvwxyzABCD"]),
    ("2K", ["abcdefghij", "", "uvwxyzABCD"]), ("J", ["abcdefghij", "klmn", ""]),
    ("1J", ["", "     pqrst", "uvwxyzABCD"]),
    ("2J", ["", "", ""]), ("3X", ["abcdefghij", "klmn   rst", "uvwxyzABCD"]),
    ("2P", ["abcdefghij", "klmnqrst", "uvwxyzABCD"]),
    ("2@", ["abcdefghij", "klmn  opqr", "uvwxyzABCD"]), ("L", ["abcdefghij", "", "klmnopqrst"]),
    ("M", ["abcdefghij", "uvwxyzABCD", ""]),
  ])
  func sequencesEraseAndShift(sequence: String, lines: [String]) {
    let drawn = screen("abcdefghij\r\nklmnopqrst\r\nuvwxyzABCD\u{1B}[2;5H\u{1B}[\(sequence)", rows: 3)
    #expect(drawn.lines == lines)
  }

  @Test func aRegionScrollsAlone() {
    #expect(screen("1\r\n2\r\n3\r\n4\u{1B}[2;3r\u{1B}[3;1H\nx").lines == ["1", "3", "x", "4"])
    #expect(screen("1\r\n2\r\n3\r\n4\u{1B}[2;3r\u{1B}[2;1H\u{1B}Mx").lines == ["1", "x", "2", "4"])
  }

  @Test func theAlternateScreenGivesTheMainOneBack() {
    var drawn = screen("main\u{1B}[?1049h\u{1B}[2J\u{1B}[Hother")
    #expect(drawn.showsAlternate)
    #expect(drawn.lines[0] == "other")
    drawn.feed("\u{1B}[?1049l!")
    #expect(!drawn.showsAlternate)
    #expect(drawn.lines[0] == "main!")
  }

  @Test func privateModesAreKept() {
    #expect(screen("\u{1B}[?1004;2004h").modes.isSuperset(of: [1004, 2004]))
    #expect(screen("\u{1B}[?1004h\u{1B}[?1004l").modes.contains(1004) == false)
    #expect(screen("\u{1B}[?25l").showsCursor == false)
  }

  @Test(arguments: [
    "\u{1B}[1;31m", "\u{1B}[>4;2m", "\u{1B}[38:5:9m", "\u{1B}]0;a title\u{7}", "\u{1B}]8;;x\u{1B}\\",
    "\u{1B}P1$r0m\u{1B}\\", "\u{1B}(B",
    "\u{1B}[!p", "\u{1B}[0 q", "\u{1B}_application\u{1B}\\", "\u{7}",
  ])
  func whatIsNotKnownNeverShows(sequence: String) {
    #expect(screen("a\(sequence)b").lines[0] == "ab")
  }

  @Test func titlesAreKept() {
    #expect(screen("\u{1B}]2;due date\u{1B}\\").title == "due date")
  }

  @Test func charactersAreDecodedAndMeasured() {
    #expect(screen("é·漢字x").lines[0] == "é·漢字x")
    #expect(screen("漢字x").cursor == (0, 5))
    #expect(screen("e\u{301}x").lines[0] == "e\u{301}x")
    #expect(screen("e\u{301}x").cursor == (0, 2))
    for wide in ["⌚", "✅", "⭐", "⚡", "\u{1FAE0}"] { #expect(screen("\(wide)x").cursor == (0, 3), "\(wide)") }
    for marked in ["ש\u{5B8}", "ب\u{64E}", "ก\u{E47}", "क\u{94D}", "か\u{3099}"] {
      let width = marked.unicodeScalars.first!.value >= 0x3000 ? 2 : 1
      #expect(screen("\(marked)x").cursor == (0, width + 1), "\(marked)")
    }
    for narrow in ["☺", "\u{AD}", "→", "\u{1F1E6}"] { #expect(screen("\(narrow)x").cursor == (0, 2), "\(narrow)") }
    #expect(screen("12345678漢x").lines[0] == "12345678漢")
    #expect(screen("123456789漢").lines == ["123456789", "漢", "", ""])
    #expect(screen("漢\rx").lines[0] == "x")
  }

  @Test func theSplittingOfTheBytesDoesNotMatter() {
    let text = "\u{1B}[?1049h\u{1B}[2;3H\u{1B}[1;31mé漢\u{1B}]0;title\u{1B}\\字\r\nz\u{1B}[K"
    let whole = screen(text)
    var split = TerminalScreen(rows: 4, columns: 10)
    for byte in text.utf8 { split.feed([byte]) }
    #expect(split.lines == whole.lines)
    #expect(split.cursor == whole.cursor)
    #expect(split.modes == whole.modes)
    #expect(split.title == whole.title)
  }

  @Test func randomBytesNeverTrap() {
    let seed = UInt64.random(in: .min ... .max)
    var generator = SplitMix64(seed: seed)
    var drawn = TerminalScreen(rows: 5, columns: 7)
    let alphabet = Array("\u{1B}[]?;0159ABCDEFGHJKLMPSTXrhlsudf@`78cm\u{7}\r\n\t\u{8}ax漢é\u{301}".utf8)
    for _ in 0..<50_000 { drawn.feed([alphabet.randomElement(using: &generator)!]) }
    #expect(drawn.lines.count == 5, "seed \(seed)")
    #expect((0..<5).contains(drawn.cursor.row) && (0..<7).contains(drawn.cursor.column), "seed \(seed)")
  }

  @Test func anotherSizeKeepsWhatFits() {
    var drawn = screen("0123456789\r\nab")
    drawn.resize(rows: 2, columns: 5)
    #expect(drawn.lines == ["01234", "ab"])
    drawn.resize(rows: 3, columns: 8)
    #expect(drawn.lines == ["01234", "ab", ""])
  }
}

/// The harness starts, watches and ends real programs.
@Suite(.timeLimit(.hang)) struct PseudoTerminalTests {
  @Test func aChildHasTheTerminalAndLeadsItsSession() async throws {
    try await PseudoTerminal.run(["sh", "-c", "tty; echo pid=$$; read line; echo got $line; stty size"]) { terminal in
      try await terminal.wait(for: terminal.slave)
      try await terminal.wait(for: "pid=\(terminal.child.pid)")
      #expect(ProcessTable.entry(terminal.child.pid)?.session == terminal.child.pid)
      #expect(terminal.foregroundGroup == terminal.child.pid)
      terminal.line("words")
      try await terminal.wait(for: "got words")
      try await terminal.wait(for: "24 80")
      #expect(try await terminal.child.nextEvent() == .exited(0))
    }
  }

  @Test func aChildStartsWithoutOurSignalsAndDescriptors() async throws {
    // Ignored and blocked signals would be inherited; so would descriptors without the close-on-exec flag.
    let leak = open("/dev/null", O_RDONLY)
    defer { close(leak) }
    try await PseudoTerminal.run(["sh", "-c", "grep Sig...: /proc/self/status; ls /proc/self/fd; echo end"]) {
      terminal in
      let printed = try await terminal.wait(for: "end")
      for field in ["SigBlk", "SigIgn"] {
        let line = try #require(printed.split(whereSeparator: \.isNewline).first { $0.hasPrefix(field) })
        let signals = try #require(UInt64(line.dropFirst(field.count + 2), radix: 16))
        // From 32 on stand real-time signals; glibc itself ignores the two that it uses.
        #expect(signals & 0x7FFF_FFFF == 0, "\(line)")
      }
      // `ls` itself holds a fourth one, the directory.
      #expect(printed.split(whereSeparator: \.isWhitespace).contains("3"))
      #expect(!printed.split(whereSeparator: \.isWhitespace).contains("4"))
    }
  }

  @Test func eventsOfAChildComeInOrder() async throws {
    try await PseudoTerminal.run(["sleep", "1000"]) { terminal in
      let sent = [SIGSTOP, SIGCONT, SIGTERM]
      let expected: [ChildEvent] = [.stopped(SIGSTOP), .continued, .killed(SIGTERM)]
      for (signal, event) in zip(sent, expected) {
        terminal.child.signal(signal)
        let seen = try await terminal.child.nextEvent()
        #expect(seen == event)
      }
    }
  }

  @Test func theEndOfARunEndsAllThatWasStarted() async throws {
    let pids = try await Shell.bash.run { terminal in
      terminal.line("sleep 1000 & trap '' HUP; nohup sh -c 'sleep 1000; :' >/dev/null 2>&1 &")
      try await terminal.prompt()
      return ProcessTable.members(ofSession: terminal.child.pid).map(\.pid)
    }
    #expect(pids.count >= 3)
    #expect(pids.allSatisfy { ProcessTable.entry($0)?.isZombie ?? true })
  }

  @Test func theEndOfARunThatFailedEndsItToo() async throws {
    struct Failure: Error {}
    var pid: Int32 = 0
    await #expect(throws: Failure.self) {
      try await PseudoTerminal.run(["sleep", "1000"]) { terminal in
        pid = terminal.child.pid
        throw Failure()
      }
    }
    #expect(pid != 0 && ProcessTable.entry(pid) == nil)
  }

  @Test func waitingTakesWhatItFound() async throws {
    try await PseudoTerminal.run(["cat"]) { terminal in
      terminal.line("one")
      #expect(try await terminal.wait(for: "one").hasSuffix("one"))
      // The echo was taken; this is what cat wrote.
      try await terminal.wait(for: "one")
      let failure = await #expect(throws: WaitFailed.self) {
        try await terminal.wait(for: "one", within: .zero)
      }
      #expect(failure?.cause == .deadline(.zero))
    }
  }

  @Test func waitingForWhatCannotComeEndsWithTheProgram() async throws {
    try await PseudoTerminal.run(["true"]) { terminal in
      let failure = await #expect(throws: WaitFailed.self) {
        try await terminal.wait(for: "never", within: .seconds(30))
      }
      #expect(failure?.cause == .ended)
    }
  }

  @Test func aCancelledWaitEnds() async throws {
    let monitor = Monitor(0)
    let waiting = Task { try await monitor.wait(for: "one", within: .seconds(30)) { $0 == 1 ? () : nil } }
    waiting.cancel()
    await #expect(throws: CancellationError.self) { try await waiting.value }
  }

  @Test func everyWaiterOfAMonitorIsServedOnce() async throws {
    let monitor = Monitor([Int]())
    let taken = await withTaskGroup(of: Int?.self) { group in
      for _ in 0..<100 {
        group.addTask {
          try? await monitor.wait(for: "an element", within: .seconds(30)) { $0.isEmpty ? nil : $0.removeFirst() }
        }
      }
      for element in 0..<100 { monitor.update { $0.append(element) } }
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(taken.compactMap { $0 }.sorted() == Array(0..<100))
  }

  @Test func theSizeCanBeChanged() async throws {
    try await PseudoTerminal.run(["sh", "-c", "trap 'stty size' WINCH; echo set; while read x; do :; done"]) {
      terminal in
      try await terminal.wait(for: "set")
      terminal.resize(rows: 11, columns: 33)
      // The shell runs the trap when the read has returned.
      terminal.line("")
      try await terminal.wait(for: "11 33")
      #expect(terminal.screen.rows == 11)
    }
  }

  @Test func hangingUpEndsTheSession() async throws {
    try await PseudoTerminal.run(["cat"]) { terminal in
      terminal.line("x")
      try await terminal.wait(for: "x")
      await terminal.hangUp()
      #expect(try await terminal.child.nextEvent() == .killed(SIGHUP))
      #expect(terminal.modes == nil)
    }
  }

  @Test func modesAreReadFromOutside() async throws {
    try await PseudoTerminal.run(["sh", "-c", "read x; stty raw -echo; echo raw; read x; stty sane; echo sane; read x"])
    {
      terminal in
      let before = try #require(terminal.modes)
      #expect(before.isCanonical && before.echoes && before.sendsSignals)
      terminal.line("")
      try await terminal.wait(for: "raw")
      let raw = try #require(terminal.modes)
      #expect(!raw.isCanonical && !raw.echoes && !raw.sendsSignals)
      terminal.send("\n")
      try await terminal.wait(for: "sane")
      #expect(terminal.modes?.isCanonical == true)
    }
  }

  @Test(arguments: Shell.allCases) func shellsAnswer(shell: Shell) async throws {
    try shell.isInstalledOrCancel()
    try await shell.run { terminal in
      terminal.line("sh -c 'exit 7'")
      try await terminal.prompt()
      #expect(try await terminal.status(in: shell) == 7)
      // What is typed does not contain what is waited for, or its echo would pass for it.
      terminal.line("sh -c 'printf r%s un; exec sleep 1000'")
      try await terminal.wait(for: "run")
      terminal.control("Z")
      try await terminal.wait(for: shell.stopMark)
    }
  }

  @Test func filesAreReadAsTheyGrow() async throws {
    try await withTemporaryDirectory { directory in
      let file = try LineFile(directory.file("log"))
      let gate = try Gate(directory.file("gate"))
      try await PseudoTerminal.run(
        [
          "sh", "-c", "echo one >>log; echo two >>log; head -c 1 gate; printf 'thr' >>log; printf 'ee\\nfour\\n' >>log",
        ],
        directory: directory.path
      ) { _ in
        try await file.line(startingWith: "two")
        #expect(file.lines == ["one", "two"])
        try gate.open()
        try await file.line("four") { $0 == "four" }
        #expect(file.lines == ["one", "two", "three", "four"])
      }
    }
  }

  @Test func aProgramWithoutATerminalIsReadToItsEnd() async throws {
    let finished = try await runProgram(["sh", "-c", "cat; echo error >&2; exit 3"], input: "in\n")
    #expect(finished.ending == .exited(3))
    #expect(finished.output == "in\n")
    #expect(finished.errors == "error\n")
    await #expect(throws: SystemError.self) { try await runProgram(["/nonexistent/program"]) }
  }

  @Test func aServerTellsOfEachConnection() async throws {
    let port = try await LineServer.run { server in
      let client = try Client(port: server.port)
      let first = try await server.nextConnection()
      first.send("a tip")
      #expect(await client.line() == "a tip")
      client.send("thanks")
      #expect(try await first.nextLine() == "thanks")
      #expect(!first.isClosed)
      client.close()
      try await first.closed()
      let other = try Client(port: server.port)
      let second = try await server.nextConnection()
      #expect(second.number == 2)
      second.close()
      #expect(await other.line() == nil)
      other.close()
      return server.port
    }
    #expect(throws: SystemError.self) { try Client(port: port) }
  }
}

/// The other side of a connection, with calls that block.
private struct Client: Sendable {
  private let descriptor: Int32

  init(port: UInt16) throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    if withLoopback(port, { [descriptor] in connect(descriptor, $0, $1) }) != 0 {
      let error = SystemError("connect")
      Glibc.close(descriptor)
      throw error
    }
  }

  func send(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    _ = write(descriptor, bytes, bytes.count)
  }

  /// The next line, or nil at the end.
  func line() async -> String? {
    await onThread {
      var bytes: [UInt8] = []
      var byte: UInt8 = 0
      while read(descriptor, &byte, 1) == 1 {
        if byte == 0x0A { return String(decoding: bytes, as: UTF8.self) }
        bytes.append(byte)
      }
      return nil
    }
  }

  func close() { Glibc.close(descriptor) }
}
