import Glibc
import PseudoTerminal
import TestTraits
import Testing

/// A program that links the bridge runs on Foundation's run loop, through Ctrl-Z and `fg`, too.
@Suite(.serialized, .timeLimit(.hang)) struct RunLoopTests {
  /// Runs `body` with a probe in a shell, whose run loop has something to do.
  private func runProbe(
    _ work: String, _ body: (ProbeSession, PseudoTerminal) async throws -> Void
  ) async throws {
    try await Shell.bash.runProbe(on: .foundation) { probe, terminal in
      terminal.line("RUN_LOOP='\(work)' \(probe.command())")
      // The lines of the log remain for the body.
      try await terminal.waitForScreen(containing: "state active visit 1")
      try await body(probe, terminal)
      try await probe.quit(on: terminal)
      try await terminal.prompt()
      #expect(try await terminal.status(in: .bash) == 0)
      probe.expectRecords(
        .launch(), .leave("Ctrl-Z"), .suspend("Ctrl-Z"), .wake("fg"), .comeBack("fg"), .quit("q"))
    }
  }

  /// Has the shell continue the probe; the lines of the log remain for the test.
  private func comeBack(on terminal: PseudoTerminal) async throws {
    terminal.line("fg")
    try await terminal.waitForScreen(containing: "state active visit 2")
  }

  /// What happens every 10 ms, or all the time, happens before Ctrl-Z and after `fg`, and not in between.
  @Test(arguments: ["timer": "timer", "perform": "performed", "source": "source", "again": "again"])
  func workOfTheRunLoopPausesWhileStopped(work: (word: String, line: String)) async throws {
    try await runProbe(work.word) { probe, terminal in
      for _ in 0..<10 { try await probe.log.line(startingWith: work.line) }
      try await terminal.stopJob(in: .bash)
      let stopped = probe.log.lines.count
      _ = try await runProgram(["sleep", "0.2"])
      #expect(probe.log.lines.count == stopped)
      try await comeBack(on: terminal)
      for _ in 0..<10 { try await probe.log.line(startingWith: work.line) }
    }
  }

  /// It leaves the main actor its turns.
  ///
  /// Foundation of Linux fires it once, and that of Apple's systems every 0.1 ms.
  @Test func aRepeatingTimerOfZeroSeconds() async throws {
    try await runProbe("zero") { probe, terminal in
      try await probe.log.line(startingWith: "zero")
      try await terminal.stopJob(in: .bash)
      try await comeBack(on: terminal)
    }
  }

  /// An answer that arrives while the program is stopped is delivered after `fg`.
  @Test func aCallbackOfURLSessionWaitsForTheReturn() async throws {
    try await LineServer.run { server in
      try await runProbe("load:http://127.0.0.1:\(server.port)/") { probe, terminal in
        try await server.nextConnection().answer("before")
        try await probe.log.line(startingWith: "loaded before")
        let connection = try await server.nextConnection()
        try await terminal.stopJob(in: .bash)
        try await connection.answer("meanwhile")
        let stopped = probe.log.lines.count
        _ = try await runProgram(["sleep", "0.2"])
        #expect(probe.log.lines.count == stopped)
        try await comeBack(on: terminal)
        try await probe.log.line(startingWith: "loaded meanwhile")
        try await server.nextConnection().answer("after")
        try await probe.log.line(startingWith: "loaded after")
      }
    }
  }

  /// A run loop within work of the main actor runs timers, and no other work of the main actor.
  @Test func workOfTheMainActorRunsTheRunLoopItself() async throws {
    try await runProbe("nested timer") { probe, terminal in
      try await probe.log.line(startingWith: "nested without the main actor's work")
      try await probe.log.line(startingWith: "timer")
      try await terminal.stopJob(in: .bash)
      try await comeBack(on: terminal)
      try await probe.log.line(startingWith: "timer")
    }
  }
}

extension LineServer.Connection {
  /// Reads a request of HTTP, answers it with a text, and closes the connection.
  fileprivate func answer(_ text: String) async throws {
    while try await nextLine() != "\r" {}
    send("HTTP/1.1 200 OK\r\nContent-Length: \(text.utf8.count)\r\nConnection: close\r\n\r\n\(text)")
    close()
  }
}
