import Glibc
import PseudoTerminal
import TestTraits
import Testing

/// Components of iOS in a real program: what they send when the program is stopped, continued, killed and ended.
@Suite(.timeLimit(.hang)) struct `Components of iOS in a program` {
  private func inShell(
    _ environment: String = "", _ body: (PseudoTerminal, LineFile, TemporaryDirectory) async throws -> Void
  ) async throws {
    try await withTemporaryDirectory { directory in
      let server = try LineFile(directory.file("server"))
      try await Shell.bash.run { terminal in
        terminal.line("\(environment) \(builtProduct("ComponentProbe")) \(directory.path)")
        try await server.line(startingWith: "ready")
        try await body(terminal, server, directory)
      }
    }
  }

  /// The names of the events that have come, and the messages of the connection, without sessions.
  private func came(_ server: LineFile) -> [String] {
    server.lines.filter { !$0.hasPrefix("ready") }.map { line in
      line.hasPrefix("event ") ? String(line.split(separator: " ", maxSplits: 2)[2]) : line
    }
  }

  private func sessions(_ server: LineFile) -> Set<Substring> {
    Set(server.lines.filter { $0.hasPrefix("event ") }.map { $0.split(separator: " ")[1] })
  }

  @Test func `have sent everything when Ctrl-Z has stopped it, so that kill -9 loses nothing`() async throws {
    try await inShell { terminal, server, _ in
      try await server.line(startingWith: "join room")
      terminal.control("Z")
      try await terminal.prompt()
      terminal.line("kill -9 %1")
      try await terminal.prompt()
      #expect(Set(came(server)) == ["Application Opened", "Application Backgrounded", "join room", "leave room"])
    }
  }

  @Test func `open and leave one session through Ctrl-Z and fg, and join again`() async throws {
    try await inShell { terminal, server, _ in
      try await server.line(startingWith: "join room")
      terminal.control("Z")
      try await terminal.prompt()
      terminal.line("fg")
      try await server.line(startingWith: "join room")
      terminal.control("Z")
      try await terminal.prompt()
      let events = came(server).filter { !$0.hasSuffix("room") }
      #expect(
        events == [
          "Application Opened", "Application Backgrounded", "Application Opened From Background",
          "Application Backgrounded",
        ])
      #expect(sessions(server).count == 1)
      terminal.line("kill -9 %1")
    }
  }

  @Test func `send everything at SIGTERM, in a terminal`() async throws {
    try await inShell { terminal, server, _ in
      try await server.line(startingWith: "join room")
      terminal.control("C")
      try await terminal.prompt()
      #expect(try await terminal.status(in: .bash) == 0)
      #expect(Set(came(server)).isSuperset(of: ["Application Opened", "Application Backgrounded", "leave room"]))
    }
  }

  @Test func `send everything at SIGTERM, as a service`() async throws {
    try await withTemporaryDirectory { directory in
      let server = try LineFile(directory.file("server"))
      let child = try ChildProcess(
        [builtProduct("ComponentProbe"), directory.path],
        environment: bareEnvironment.merging(["APP_LIFECYCLE_HOST": "service"]) { $1 }, descriptors: (-1, -1, -1),
        directory: directory.path)
      try await server.line(startingWith: "ready")
      child.signal(SIGTERM)
      #expect(try await child.ending() == .exited(0))
      #expect(Set(came(server)) == ["Application Opened", "Application Backgrounded"])
    }
  }

  @Test func `send after the next launch what kill -9 has interrupted`() async throws {
    try await withTemporaryDirectory { directory in
      let server = try LineFile(directory.file("server"))
      try await Shell.bash.run { terminal in
        terminal.line("\(builtProduct("ComponentProbe")) \(directory.path)")
        let ready = try await server.line(startingWith: "ready ")
        // The event is on disk when the connection has been made.
        try await server.line(startingWith: "join room")
        kill(try #require(pid_t(ready.dropFirst(6))), SIGKILL)
        try await terminal.prompt()
        #expect(came(server) == ["join room"])
        terminal.line("\(builtProduct("ComponentProbe")) \(directory.path)")
        try await server.line(startingWith: "join room")
        terminal.control("Z")
        try await terminal.prompt()
        #expect(came(server).filter { $0 == "Application Opened" }.count == 2)
        #expect(sessions(server).count == 2)
        terminal.line("kill -9 %1")
      }
    }
  }

  @Test func `send from a timer of Foundation's run loop`() async throws {
    try await inShell("FLUSH_INTERVAL=0.1") { terminal, server, _ in
      try await server.line("an event without a change of state") { $0.hasSuffix("Application Opened") }
      terminal.control("Z")
      try await terminal.prompt()
      terminal.line("kill -9 %1")
    }
  }
}
