import Glibc
import PseudoTerminal
import TestTraits
import Testing

/// The keys that make signals get the user out of a real program, whatever the terminal has sent before.
@Suite(.serialized, .timeLimit(.hang)) struct SignalKeyTests {
  /// Presses a key five times a second until the program has ended.
  private func insist(on key: String, at terminal: PseudoTerminal) async throws -> ChildEvent {
    while true {
      terminal.send(key)
      if let ending = try? await terminal.child.ending(within: .milliseconds(200)) { return ending }
      try Task.checkCancellation()
    }
  }

  private func run(
    _ options: String..., ignoring signal: String? = nil,
    _ body: (ProbeSession, PseudoTerminal) async throws -> Void
  ) async throws {
    try await ProbeSession.run { probe in
      let program = probe.arguments() + options.map { $0 == "GATE" ? probe.gate.path : $0 }
      let arguments = signal.map { ["sh", "-c", "trap '' \($0); exec \"$@\"", "-"] + program } ?? program
      try await PseudoTerminal.run(arguments) { terminal in
        try await probe.isActive(visit: 1, on: terminal)
        try await body(probe, terminal)
      }
    }
  }

  @Test(arguments: ["\u{3}", "\u{1B}[99;5u", "\u{1B}[27;5;99~", "\u{1B}[99;133:1u"])
  func `Ctrl-C five times a second ends a program in a paste without an end`(key: String) async throws {
    try await run("--keys") { probe, terminal in
      terminal.send("\u{1B}[200~half")
      let end = try await insist(on: key, at: terminal)
      #expect(end == .exited(0))
      #expect(probe.log.lines.contains { $0.hasPrefix("keys Paste(") })
    }
  }

  @Test func `Ctrl-Backslash ends it, too`() async throws {
    try await run { _, terminal in
      terminal.send("\u{1B}[200~half")
      let end = try await insist(on: "\u{1C}", at: terminal)
      #expect(end == .killed(SIGQUIT))
    }
  }

  @Test func `Ctrl-Z stops a program in a paste without an end, and the paste is over after fg`() async throws {
    try await Shell.dash.runProbe { probe, terminal in
      try await probe.launch(on: terminal)
      terminal.send("\u{1B}[200~half")
      try await probe.log.line("the paste") { $0.hasSuffix("68616C66") }
      // A key that comes after the stop would stop nothing, or stand at the shell's prompt.
      try await Task.sleep(for: .seconds(1.1))
      try await terminal.stopJob(in: .dash)
      try await probe.comeBack(visit: 2, on: terminal)
      try await probe.quit(on: terminal)
    }
  }

  @Test func `A pasted Ctrl-C is text`() async throws {
    try await run("--keys") { probe, terminal in
      terminal.send("\u{1B}[200~one \u{3} two\u{1B}[201~k")
      try await probe.log.line("the paste") { $0 == "keys Paste(9 bytes) k" }
      terminal.send("q")
      let end = try await terminal.child.ending()
      #expect(end == .exited(0))
    }
  }

  @Test func `A paste without an end is over after some seconds without input`() async throws {
    try await run("--keys") { probe, terminal in
      terminal.send("\u{1B}[200~half")
      try await probe.log.line("the paste") { $0 == "keys Paste(4 bytes)" }
      terminal.send("q")
      let end = try await terminal.child.ending()
      #expect(end == .exited(0))
    }
  }

  @Test(arguments: ["\u{1B}]11;", "\u{1B}P1$", "\u{1B}[M", "\u{1B}[1;"])
  func `So is an answer of the terminal without an end`(beginning: String) async throws {
    try await run { probe, terminal in
      terminal.send(beginning)
      // The terminal is silent for longer than the host waits; there is nothing else to wait for.
      try await Task.sleep(for: .seconds(4))
      terminal.send("q")
      let end = try await terminal.child.ending()
      #expect(end == .exited(0))
    }
  }

  @Test(arguments: ["\u{1B}[99;5u", "\u{1B}[27;5;99~", "\u{1B}[99:67:99;197:1u"])
  func `Ctrl-C as a sequence ends the program, and its release is no answer`(key: String) async throws {
    try await run("--refuse") { _, terminal in
      terminal.send(key)
      terminal.send("\u{1B}[99;5:3u\u{1B}[57442;1:3u")
      let end = try await insist(on: key, at: terminal)
      #expect(end == .exited(0))
    }
  }

  @Test func `Ctrl-Z as a sequence stops the program`() async throws {
    try await Shell.dash.runProbe { probe, terminal in
      terminal.line(probe.command())
      for (visit, key) in [(1, "\u{1B}[122;5u"), (2, "\u{1B}[27;5;122~")] {
        try await probe.isActive(visit: visit, on: terminal)
        terminal.send(key)
        try await terminal.jobHasStopped(in: .dash)
        terminal.line("fg")
      }
      try await probe.isActive(visit: 3, on: terminal)
      terminal.send("\u{1B}[113;129:1u")
      try await probe.isNotRunning()
    }
  }

  // MARK: Signals that the parent ignored

  @Test(arguments: [("INT", "\u{3}", ChildEvent.exited(0)), ("QUIT", "\u{1C}", .killed(SIGQUIT))])
  func `In raw mode a key is a key, although its signal was ignored`(
    name: String, key: String, ending: ChildEvent
  ) async throws {
    try await run(ignoring: name) { _, terminal in
      terminal.send(key)
      let end = try await terminal.child.ending()
      #expect(end == ending)
    }
  }

  @Test func `Without raw mode a signal that was ignored stays ignored`() async throws {
    try await run("--cooked", "--keys", ignoring: "INT") { probe, terminal in
      terminal.send("\u{3}")
      terminal.line("k")
      try await probe.log.line("the line") { $0 == "keys k Enter" }
      terminal.line("q")
      let end = try await terminal.child.ending()
      #expect(end == .exited(0))
    }
  }

  @Test func `Ctrl-Z is a key, although SIGTSTP was ignored`() async throws {
    try await Shell.bash.runProbe { probe, terminal in
      terminal.line("sh -c \"trap '' TSTP; exec \(probe.command())\"")
      try await probe.isActive(visit: 1, on: terminal)
      try await terminal.stopJob(in: .bash)
      try await probe.comeBack(visit: 2, on: terminal)
      try await probe.quit(on: terminal)
    }
  }

  /// The shell waits for the wrapper, and would never learn that the program has stopped.
  @Test func `A program does not stop under a wrapper that would not stop with it`() async throws {
    try await ProbeSession.run { probe in
      try await Shell.bash.run { terminal in
        terminal.line("sh -c \"trap '' TSTP; \(probe.command()); true\"")
        try await probe.isActive(visit: 1, on: terminal)
        terminal.control("Z")
        try await probe.quit(on: terminal)
        try await terminal.prompt()
      }
      probe.expectRecords(.launch(), .quit("q"))
    }
  }

  // MARK: Escape

  @Test func `An arrow key whose bytes come apart is one key if Escape waits longer`() async throws {
    for (delay, expected) in [("10000", "keys Up"), ("0", "keys Escape")] {
      try await run("--keys", "--escape-delay", delay) { probe, terminal in
        await onThread {
          terminal.send("\u{1B}")
          // Longer than Escape waits by default.
          usleep(200_000)
          terminal.send("[A")
        }
        try await probe.log.line("the keys") { $0.hasPrefix("keys ") }
        #expect(probe.log.lines.first { $0.hasPrefix("keys ") } == expected)
        terminal.send("q")
        let end = try await terminal.child.ending()
        #expect(end == .exited(0))
      }
    }
  }

  // MARK: A main actor that handles no input

  @Test func `Of input without an end a part waits for a main actor that is blocked, and the rest is told of`()
    async throws
  {
    let text = String(repeating: "z", count: 1_000_000)
    try await run("--key-gate", "GATE") { probe, terminal in
      terminal.send("b")
      try await probe.log.line("the key") { $0 == "blocked" }
      // It is taken, although no input is handled: a key that makes a signal may come next.
      terminal.send(text)
      terminal.send("\u{1B}[O")
      try probe.gate.open()
      let line = try await probe.log.line("what was omitted") { $0.hasPrefix("omitted ") }
      try await probe.log.line("the focus") { $0.hasPrefix("notification UIApplicationWillResignActive") }
      let omitted = Int(line.dropFirst("omitted ".count)) ?? 0
      let handled = probe.log.lines.filter { $0.hasPrefix("input ") }.reduce(0) { $0 + ($1.utf8.count - 6) / 2 }
      #expect(handled + omitted == text.utf8.count + 1)
      #expect((100_000...600_000).contains(handled))
      terminal.send("q")
      let end = try await terminal.child.ending()
      #expect(end == .exited(0))
    }
  }

  @Test func `Ctrl-C ends a program that handles no input, however much has come`() async throws {
    try await run("--key-gate", "GATE", "--budget", "500") { probe, terminal in
      terminal.send("b")
      try await probe.log.line("the key") { $0 == "blocked" }
      terminal.send(String(repeating: "z", count: 600_000))
      let end = try await insist(on: "\u{3}", at: terminal)
      #expect([.exited(70), .killed(SIGINT)].contains(end))
    }
  }
}
