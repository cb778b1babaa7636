import Foundation
import Glibc
import PseudoTerminal
import TestTraits
import Testing

/// A terminal that is lent to a child process, in real shells.
@Suite(.serialized, .timeLimit(.hang)) struct LendingTests {
  /// The keys at which the probe lends: to a child in its own group, in another one, and in its own one, which it names.
  private static let keys = ["l", "L", "g"]

  private func withChild(
    _ command: String, key: String, in shell: Shell = .dash, file: String? = nil,
    _ body: (ProbeSession, PseudoTerminal) async throws -> Void
  ) async throws {
    try shell.isInstalledOrCancel()
    try await ProbeSession.run { probe in
      if let file { try probe.directory.write(file, to: "text") }
      try await shell.run(directory: probe.directory.path) { terminal in
        try await probe.launch("--modes --child '\(command)'", on: terminal)
        terminal.send(key)
        try await body(probe, terminal)
      }
    }
  }

  private func quit(_ probe: ProbeSession, _ terminal: PseudoTerminal, in shell: Shell = .dash) async throws {
    try await probe.quit(on: terminal)
    try await terminal.prompt()
    #expect(try await terminal.status(in: shell) == 0)
    #expect(terminal.screen.isLeftInOrder(at: shell), "\(terminal.screen)")
  }

  /// Waits until the child has the terminal, which it says by the line that it has read.
  private func hasTerminal(_ probe: ProbeSession, _ terminal: PseudoTerminal) async throws {
    try await probe.log.line(startingWith: "second loan: alreadyLent")
    terminal.line("first")
    try await terminal.wait(for: "got first")
  }

  private static let lineReader = "echo child $((1 + 1)); read line; echo got $line"

  @Test(arguments: keys) func theChildHasTheTerminalAsTheShellLeftIt(key: String) async throws {
    try await withChild(Self.lineReader, key: key) { probe, terminal in
      try await terminal.wait(for: "child 2")
      #expect(terminal.screen.isLeftInOrder(), "\(terminal.screen)")
      #expect(terminal.modes?.isCanonical == true && terminal.modes?.sendsSignals == true)
      terminal.line("hello")
      try await terminal.wait(for: "got hello")
      try await probe.isActive(visit: 2, on: terminal)
      try await terminal.waitForScreen("the probe's") { $0.showsAlternate && $0.modes.contains(1003) }
      #expect(terminal.modes?.isCanonical == false)
      try await quit(probe, terminal)
      #expect(!probe.log.lines.contains { $0.hasPrefix("input 68") })
      #expect(probe.log.lines.contains("second loan: alreadyLent"))
      probe.expectRecords(.launch(), .resign("lend"), .activate("lend"), .quit("q"))
    }
  }

  /// A child that was started before goes on to write to the memory, which nothing may show during the loan.
  @Test func standardErrorIsTrimmedDuringALoan() async throws {
    try await withChild(Self.lineReader, key: "L") { probe, terminal in
      try await terminal.wait(for: "child 2")
      let descriptors = "/proc/\(try probe.pid())/fd"
      let memory = try #require(
        try FileManager.default.contentsOfDirectory(atPath: descriptors).map { "\(descriptors)/\($0)" }.first {
          (try? FileManager.default.destinationOfSymbolicLink(atPath: $0))?.contains("standard-error") == true
        })
      let file = open(memory, O_WRONLY | O_APPEND | O_CLOEXEC)
      let line = String(repeating: "x", count: 1023) + "\n"
      for _ in 0..<4_096 { #expect(write(file, line, line.utf8.count) == line.utf8.count) }
      var status = stat()
      // The host looks once a second.
      repeat {
        await Task.yield()
        fstat(file, &status)
      } while status.st_blocks * 512 > 2 << 20
      #expect(status.st_size == 4 << 20)
      // Some systems refuse memory that could be executed; kernels that do not know of it have no such file.
      if access("/proc/sys/vm/memfd_noexec", F_OK) == 0 { #expect(status.st_mode & 0o111 == 0) }
      close(file)
      terminal.line("hello")
      try await probe.isActive(visit: 2, on: terminal)
      try await quit(probe, terminal)
      #expect(terminal.text.contains("what came before this on standard error was too much to show"))
    }
  }

  @Test(arguments: keys) func theInterruptKeyIsForTheChild(key: String) async throws {
    try await withChild("read line; echo got $line; exec cat", key: key) { probe, terminal in
      try await hasTerminal(probe, terminal)
      terminal.control("C")
      try await probe.isActive(visit: 2, on: terminal)
      try await quit(probe, terminal)
      // What `waitpid` says of a process that SIGINT has killed.
      #expect(probe.log.lines.contains("child ended with \(SIGINT)"))
      probe.expectRecords(.launch(), .resign("lend"), .activate("lend"), .quit("q"))
    }
  }

  @Test(arguments: Shell.allCases, keys) func theJobStopsAndGoesOnAsAWhole(shell: Shell, key: String) async throws {
    try await withChild(Self.lineReader, key: key, in: shell) { probe, terminal in
      try await terminal.wait(for: "child 2")
      for _ in 1...2 {
        try await terminal.stopJob(in: shell)
        terminal.line("fg")
        try await probe.log.line(startingWith: "state inactive inactive fg")
      }
      terminal.line("hello")
      try await terminal.wait(for: "got hello")
      try await probe.isActive(visit: 2, on: terminal)
      try await quit(probe, terminal, in: shell)
      let visit: [Records] = [
        .enterBackground("Ctrl-Z"), .suspend("Ctrl-Z"), .wake("fg"),
        .line("delegate applicationWillEnterForeground background fg"),
        .line("notification UIApplicationWillEnterForegroundNotification background fg"),
        .line("state inactive inactive fg"),
      ]
      probe.expectRecords([.launch(), .resign("lend")] + visit + visit + [.activate("lend"), .quit("q")])
    }
  }

  /// The host is in the group, too: it would hear each SIGCONT, and send the next one.
  @Test func `The program's own group is not continued`() async throws {
    let command = "trap \"echo continued\" CONT; \(Self.lineReader); read line; echo got $line"
    try await withChild(command, key: "g") { probe, terminal in
      try await terminal.wait(for: "child 2")
      try await hasTerminal(probe, terminal)
      terminal.line("second")
      try await terminal.wait(for: "got second")
      #expect(!terminal.text.contains("continued\r\n"))
      try await probe.isActive(visit: 2, on: terminal)
      try await quit(probe, terminal)
    }
  }

  /// A stop that the child is not sent: else the child would take what is typed for the shell.
  @Test(arguments: keys) func aStopOfTheProgramAloneStopsTheChild(key: String) async throws {
    let command = "echo child $((1 + 1)); read one; echo got $one; read two; echo got $two"
    try await withChild(command, key: key) { probe, terminal in
      try await terminal.wait(for: "child 2")
      // The child has the terminal, and waits for the next line.
      terminal.line("one")
      try await terminal.wait(for: "got one")
      try probe.signal(SIGTSTP)
      try await terminal.jobHasStopped(in: .dash)
      terminal.line("fg")
      try await probe.log.line(startingWith: "state inactive inactive fg")
      terminal.line("two")
      try await terminal.wait(for: "got two")
      try await probe.isActive(visit: 2, on: terminal)
      try await quit(probe, terminal)
    }
  }

  @Test(arguments: keys) func aMessageWaitsForTheEndOfTheLoan(key: String) async throws {
    try await Shell.dash.runProbe { probe, terminal in
      try await probe.launch("--message-gate \(probe.gate.path) --child '\(Self.lineReader)'", on: terminal)
      terminal.send(key)
      try await terminal.wait(for: "child 2")
      try probe.gate.open()
      try await probe.log.line(startingWith: "message sent")
      terminal.line("hello")
      #expect(try await !terminal.wait(for: "got hello").contains("a message of the host"))
      try await terminal.wait(for: "a message of the host")
      try await probe.isActive(visit: 2, on: terminal)
      try await quit(probe, terminal)
      // Once only.
      #expect(terminal.text.split(separator: "a message of the host").count == 2)
    }
  }

  /// Dash restores no modes, so the terminal has those that the program gives back.
  @Test(arguments: keys, ["stty raw -echo", "stty -echo"])
  func theModesOfAKilledChildAreNotTheShells(key: String, change: String) async throws {
    try await Shell.dash.runProbe { probe, terminal in
      let before = terminal.modes
      try await probe.launch("--child '\(change); kill -9 $$'", on: terminal)
      terminal.send(key)
      try await probe.isActive(visit: 2, on: terminal)
      // The key is an order only as long as the shell's modes are known.
      terminal.control("C")
      try await probe.isNotRunning()
      try await terminal.prompt()
      #expect(terminal.modes == before)
    }
  }

  /// A shell with job control makes a group of its own the foreground group; no process of it is left to give that back.
  @Test func aShellThatIsKilledLeavesTheTerminalToTheProgram() async throws {
    try Shell.bash.isInstalledOrCancel()
    try await withChild("echo child $((1 + 1)); exec bash --norc --noprofile -i", key: "l") { probe, terminal in
      try await terminal.wait(for: "child 2")
      try await terminal.prompt()
      #expect(try terminal.foregroundGroup != getpgid(probe.pid()))
      terminal.line("kill -9 $$")
      try await probe.isActive(visit: 2, on: terminal)
      try await quit(probe, terminal)
      probe.expectRecords(.launch(), .resign("lend"), .activate("lend"), .quit("q"))
    }
  }

  /// The kernel refuses to stop the program, but not a child in a group of its own: its parent could continue it.
  @Test(arguments: keys) func aStopWithoutAShellLetsTheChildGoOn(key: String) async throws {
    try await ProbeSession.run { probe in
      try await PseudoTerminal.run(probe.arguments("--child", Self.lineReader)) { terminal in
        try await probe.isActive(visit: 1, on: terminal)
        terminal.send(key)
        try await terminal.wait(for: "child 2")
        terminal.control("Z")
        terminal.line("hello")
        try await terminal.wait(for: "got hello")
        try await probe.isActive(visit: 2, on: terminal)
        try await probe.quit(on: terminal)
        #expect(try await terminal.child.ending() == .exited(0))
      }
      probe.expectRecords(.launch(), .resign("lend"), .activate("lend"), .quit("q"))
    }
  }

  @Test(arguments: keys) func anOrderToEndEndsTheProgramInOrder(key: String) async throws {
    try await withChild("echo child $((1 + 1)); read line", key: key) { probe, terminal in
      try await terminal.wait(for: "child 2")
      try probe.signal(SIGTERM)
      try await probe.isNotRunning()
      try await terminal.prompt()
      #expect(terminal.screen.isLeftInOrder(), "\(terminal.screen)")
      probe.expectRecords(.launch(), .resign("lend"), .enterBackground("SIGTERM"), .terminate("SIGTERM"))
    }
  }

  /// A wrapper is in the program's group, which is in the background of a child that has a group of its own.
  @Test(arguments: [Shell.bash, .dash]) func anOrderToEndStopsNoWrapper(shell: Shell) async throws {
    try shell.isInstalledOrCancel()
    try await ProbeSession.run { probe in
      try probe.directory.write(
        probe.command("--modes --child 'echo child $((1 + 1)); exec sleep 1000'") + "\nexit $?\n", to: "script")
      try await shell.run(directory: probe.directory.path) { terminal in
        terminal.line("sh ./script")
        try await probe.isActive(visit: 1, on: terminal)
        terminal.send("L")
        try await terminal.wait(for: "child 2")
        try probe.signal(SIGTERM)
        try await probe.isNotRunning()
        let end = try await terminal.prompt()
        #expect(!end.contains(shell.stopMark))
        #expect(try await terminal.status(in: shell) == 0)
      }
    }
  }

  /// A death without an order: of a signal that the host does not handle, and of a crash.
  @Test(arguments: [SIGUSR1, SIGSEGV]) func aDeathStopsNoScript(signal: Int32) async throws {
    try Shell.bash.isInstalledOrCancel()
    try await ProbeSession.run { probe in
      let child = "read line; echo got $line; exec sleep 1000"
      let script = probe.command("--child '\(child)'") + "\nread line\necho got $line\n"
      try probe.directory.write("ulimit -c 0\n" + script, to: "script")
      try await Shell.bash.run(environment: ["SWIFT_BACKTRACE": "enable=no"], directory: probe.directory.path) {
        terminal in
        terminal.line("sh ./script")
        try await probe.isActive(visit: 1, on: terminal)
        terminal.send("L")
        try await hasTerminal(probe, terminal)
        try probe.signal(signal)
        terminal.line("hello")
        let end = try await terminal.prompt()
        #expect(end.contains("got hello") && !end.contains(Shell.bash.stopMark), "\(end)")
      }
    }
  }

  @Test(arguments: keys) func anEditorEdits(key: String) async throws {
    try await withChild("exec vim -u NONE -N text", key: key, file: "a line to edit\n") { probe, terminal in
      try await terminal.waitForScreen(containing: "a line to edit")
      terminal.send("x:wq\r")
      try await probe.isActive(visit: 2, on: terminal)
      try await quit(probe, terminal)
      #expect(try await runProgram(["cat", probe.directory.file("text")]).output == " line to edit\n")
    }
  }
}
