import Glibc
import PseudoTerminal
import TestTraits
import Testing

/// The monitor as a user has it: in a terminal, under a shell with job control, with a server that breaks.
@Suite(.timeLimit(.hang)) struct ConnectionManagerProgramTests {
  /// The program under bash, and its server.
  private struct Session {
    let terminal: PseudoTerminal
    let server: any MonitoredServer

    func start(_ options: String) {
      terminal.line("\(builtProduct("ConnectionManager")) 127.0.0.1:\(server.port) \(options)")
    }

    /// Waits until everything is held.
    @discardableResult func isHeld() async throws -> TerminalScreen {
      try await terminal.waitForScreen("all that is held") { Self.allIsHeld($0) }
    }

    static func allIsHeld(_ screen: TerminalScreen) -> Bool {
      ["connection    held", "session       held", "subscription  held"].allSatisfy(screen.lines.contains)
    }

    /// Has the server tell of keys until one is shown, which proves that it is configured and subscribed to.
    ///
    /// On a busy machine a short health check may break the connection between a look and a message.
    func showsMessages(_ name: String) async throws {
      for number in 1... {
        let times = Self.subscriptions(try await isHeld())
        let key = "\(name)-\(number)"
        try await server.set(key)
        let screen = try await terminal.waitForScreen("the message or another subscription") {
          $0.contains("__keyevent@0__:set \(key)") || Self.subscriptions($0) > times
        }
        if screen.contains("__keyevent@0__:set \(key)") { return }
      }
    }

    private static func subscriptions(_ screen: TerminalScreen) -> Int {
      screen.lines.count { $0 == "subscription held" }
    }

    /// What happened to the resources, oldest first, once all are held.
    func log() async throws -> [String] {
      let names: Set = ["connection", "session", "subscription"]
      return try await isHeld().lines.compactMap { line in
        // In the table above the log, more than one space follows the name.
        let words = line.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count > 1, !words[1].isEmpty, names.contains(String(words[0])) else { return nil }
        return "\(words[0]) \(words[1])"
      }
    }

    func quit() async throws {
      terminal.send("q")
      try await terminal.prompt()
      #expect(try await terminal.status(in: .bash) == 0)
      #expect(!terminal.screen.showsAlternate && terminal.screen.showsCursor)
    }
  }

  private static let acquired = [
    "connection acquiring", "connection held", "session acquiring", "session held", "subscription acquiring",
    "subscription held",
  ]
  private static let released = ["subscription releasing", "session releasing", "connection releasing"]
  private static let calm = "--check 3600000"

  private func run(
    _ kind: ServerKind, _ options: String = calm, rows: Int = 120, body: (Session) async throws -> Void
  ) async throws {
    try await kind.run { server in
      try await Shell.bash.run(rows: rows, columns: 120) { terminal in
        let session = Session(terminal: terminal, server: server)
        session.start(options)
        try await session.isHeld()
        try await body(session)
      }
    }
  }

  @Test(arguments: ServerKind.allCases)
  func `A server that is killed while the program is active is found again, and told everything again`(
    kind: ServerKind
  ) async throws {
    try await run(kind) { session in
      try await session.showsMessages("before")
      #expect(try await session.log() == Self.acquired)
      try await session.server.kill()
      try await session.terminal.waitForScreen("who waits for what") { screen in
        screen.lines.contains {
          $0.hasPrefix("connection    retrying (")
            && $0.contains(": 127.0.0.1:\(session.server.port): Connection refused")
        } && screen.contains("session       waiting for connection")
          && screen.contains("subscription  waiting for session")
      }
      try await session.server.start()
      try await session.showsMessages("after")
      let log = try await session.log()
      #expect(Array(log.prefix(9)) == Self.acquired + Self.released)
      #expect(log.suffix(6) == Self.acquired)
      #expect(Set(log.dropFirst(9).dropLast(6)) == ["connection retrying", "connection acquiring"])
      try await session.quit()
    }
  }

  @Test(arguments: ServerKind.allCases)
  func `A server that is killed and started while the program is stopped is found by fg`(kind: ServerKind) async throws
  {
    try await run(kind) { session in
      session.terminal.control("Z")
      try await session.terminal.jobStops(in: .bash)
      try await session.server.kill()
      try await session.server.start()
      session.terminal.line("fg")
      try await session.showsMessages("after")
      try await session.quit()
    }
  }

  @Test(arguments: ServerKind.allCases)
  func `A server that is killed while the program is stopped, and started later, is found`(
    kind: ServerKind
  ) async throws {
    try await run(kind) { session in
      session.terminal.control("Z")
      try await session.terminal.jobStops(in: .bash)
      try await session.server.kill()
      session.terminal.line("fg")
      try await session.terminal.waitForScreen(containing: "Connection refused")
      try await session.server.start()
      session.terminal.send("r")
      try await session.showsMessages("after")
      try await session.quit()
    }
  }

  @Test func `In the background the session is made anew, and the subscription waits for the foreground`() async throws
  {
    try await run(.double) { session in
      let server = try #require(session.server as? RedisDouble)
      session.terminal.control("Z")
      try await session.terminal.jobStops(in: .bash)
      session.terminal.line("bg")
      try await session.terminal.prompt()
      try await server.line("PUNSUBSCRIBE")
      try await server.kill()
      try await server.start()
      #expect(try await server.line("CONFIG") == "1: CONFIG SET notify-keyspace-events KEA")
      #expect(server.log.count { $0.contains(" PSUBSCRIBE") } == 1)
      session.terminal.line("fg")
      try await session.showsMessages("after")
      #expect(server.log.count { $0.contains(" PSUBSCRIBE") } == 2)
      #expect(server.log.count { $0.contains(" CONFIG") } == 2)
      try await session.quit()
    }
  }

  @Test(arguments: ServerKind.allCases)
  func `A server that accepts and never answers is noticed, and found when it answers again`(
    kind: ServerKind
  ) async throws {
    try await run(kind, "--check 300") { session in
      try await session.showsMessages("before")
      await session.server.stall()
      // The connection can be made, and the session cannot.
      try await session.terminal.waitForScreen("a check that failed") { screen in
        screen.lines.contains { $0.hasPrefix("connection    retrying (") && $0.contains("health check") }
      }
      try await session.terminal.waitForScreen("a session that is not answered") { screen in
        screen.contains("connection    held") && screen.contains("session       acquiring")
          && screen.contains("subscription  waiting for session")
      }
      await session.server.resume()
      try await session.showsMessages("after")
      try await session.quit()
    }
  }

  @Test func `A server that never answered anything holds up no end`() async throws {
    try await ServerKind.double.run { server in
      await server.stall()
      try await Shell.bash.run(rows: 40, columns: 120) { terminal in
        let session = Session(terminal: terminal, server: server)
        session.start(Self.calm)
        try await terminal.waitForScreen(containing: "session       acquiring")
        try await session.quit()
      }
    }
  }

  @Test func `Any server that answers lines will do`() async throws {
    try await LineServer.run { server in
      try await Shell.bash.run(rows: 20, columns: 120) { terminal in
        let options = "--session 'name tester' --session 'room 1' --subscribe listen \(Self.calm)"
        terminal.line("\(builtProduct("ConnectionManager")) 127.0.0.1:\(server.port) \(options)")
        for number in 1...2 {
          let connection = try await server.nextConnection()
          for line in ["name tester", "room 1", "listen"] {
            #expect(try await connection.nextLine() == line)
            connection.send("fine")
          }
          connection.send("news \(number)")
          try await terminal.waitForScreen(containing: "news \(number)")
          connection.close()
        }
      }
    }
  }

  @Test func `A thousand broken connections leave no descriptor and no thread behind`() async throws {
    try await run(.double, "--retry 0 \(Self.calm)", rows: 10) { session in
      let server = try #require(session.server as? RedisDouble)
      let pid = try #require(
        ProcessTable.members(ofSession: session.terminal.child.pid, running: "ConnectionManager").first
      ).pid
      func breakConnections(_ rounds: Int) async throws -> (descriptors: Int, threads: Int) {
        for _ in 0..<rounds {
          server.dropConnections()
          try await server.line("PSUBSCRIBE")
        }
        try await session.showsMessages("after-\(rounds)")
        return (try fileNames(in: "/proc/\(pid)/fd").count, try fileNames(in: "/proc/\(pid)/task").count)
      }
      try await server.line("PSUBSCRIBE")
      let before = try await breakConnections(50)
      let after = try await breakConnections(1_000)
      #expect(after.descriptors == before.descriptors)
      // How many threads libdispatch keeps is its own affair, but not one for each round.
      #expect(after.threads <= before.threads + 8)
      try await session.quit()
      try await server.line("PUNSUBSCRIBE")
      // Each time in this order, and nothing else.
      let commands = ["CONFIG SET notify-keyspace-events KEA", "PSUBSCRIBE __keyevent@*__:*"]
      #expect(server.log.dropLast() == (1...1_051).flatMap { number in commands.map { "\(number): \($0)" } }[...])
    }
  }

  // MARK: The command line

  @Test func `Help is written, and a command line that cannot be read is refused`() async throws {
    let help = try await runProgram([builtProduct("ConnectionManager"), "--help"])
    #expect(help.ending == .exited(0) && help.output.hasPrefix("usage: ConnectionManager [HOST:PORT]"))
    let mistake = try await runProgram([builtProduct("ConnectionManager"), "--bogus"])
    #expect(mistake.ending == .exited(EX_USAGE))
    #expect(mistake.errors == "ConnectionManager: unknown option “--bogus”; see --help\n")
    let pipe = try await runProgram([builtProduct("ConnectionManager")])
    #expect(pipe.ending == .exited(EX_USAGE))
    #expect(pipe.errors == "ConnectionManager: standard output is no terminal; see --help\n")
  }

  @Test func `It links no Foundation, neither itself nor what it links`() async throws {
    let finished = try await runProgram(["ldd", builtProduct("ConnectionManager")])
    try #require(finished.output.contains("libswiftCore"), "\(finished.errors)")
    #expect(!finished.output.contains("Foundation"))
  }
}
