import Glibc
import PseudoTerminal
import TestTraits
import Testing

/// The examples where standard output or standard error cannot be written.
@Suite(.timeLimit(.hang)) struct StandardStreamsTests {
  /// How a shell gives `"$@"` a stream that takes nothing; `N` is the stream's number.
  enum Obstacle: String, CaseIterable, Sendable {
    case fullDisk = "exec \"$@\" N>/dev/full"
    case closed = "exec \"$@\" N>&-"
    case fileLimit = "ulimit -f 0; exec \"$@\" N>>file"
    case readOnly = "exec \"$@\" N</dev/null"
    /// The reader has gone.
    case brokenPipe = "mkfifo broken; exec 4<>broken 5>broken 4>&-; exec \"$@\" N>&5 5>&-"
    /// The reader is there and reads nothing.
    case fullPipe =
      "mkfifo full; exec 4<>full; dd if=/dev/zero of=full oflag=nonblock bs=4096 2>&-; exec \"$@\" N>&4"

    func command(stream: Int32) -> [String] {
      ["sh", "-c", rawValue.replacing("N", with: "\(stream)"), "-"]
    }
  }

  private func run(_ obstacle: Obstacle, stream: Int32, _ program: String...) async throws -> FinishedProgram {
    try await withTemporaryDirectory { directory in
      try await runProgram(
        obstacle.command(stream: stream) + [builtProduct(program[0])] + program.dropFirst(), directory: directory.path)
    }
  }

  // MARK: Standard error

  @Test(arguments: Obstacle.allCases, ["ConnectionManager", "PregTracker", "Service"])
  func `A message that cannot be written changes nothing, the status least of all`(
    obstacle: Obstacle, program: String
  ) async throws {
    let finished = try await run(obstacle, stream: 2, program, "--bogus")
    #expect(finished.ending == .exited(EX_USAGE))
    #expect(finished.output == "")
  }

  @Test(arguments: Obstacle.allCases)
  func `A mistake in a script keeps its status, too`(obstacle: Obstacle) async throws {
    #expect(try await run(obstacle, stream: 2, "PregTracker", "--script", "flyy").ending == .exited(2))
  }

  /// As after Ctrl-S: the terminal is there, and takes nothing.
  @Test(arguments: ["ConnectionManager", "PregTracker", "Service"])
  func `A terminal whose output is stopped holds up no program for ever`(program: String) async throws {
    let script = "read line; exec \"$@\""
    try await PseudoTerminal.run(["sh", "-c", script, "-", builtProduct(program), "--bogus"]) { terminal in
      let side = open(terminal.slave, O_RDWR | O_NOCTTY | O_CLOEXEC)
      defer { close(side) }
      try #require(tcflow(side, TCOOFF) == 0)
      terminal.line("")
      #expect(try await terminal.child.nextEvent() == .exited(EX_USAGE))
      #expect(tcflow(side, TCOON) == 0)
    }
  }

  /// The state file cannot be written, the journal cannot be opened, and neither can be said.
  @Test(arguments: Obstacle.allCases)
  func `A tear-down that has something to say and cannot ends in order`(obstacle: Obstacle) async throws {
    try await withTemporaryDirectory { directory in
      let arguments = ["--state", "/proc/state", "--journal", "/proc/runs.jsonl", "--due", "2026-06-25"]
      try await PseudoTerminal.run(
        obstacle.command(stream: 2) + [builtProduct("PregTracker")] + arguments + ["--tips", "127.0.0.1:1"],
        directory: directory.path
      ) { terminal in
        try await terminal.waitForScreen(containing: "didBecomeActive")
        terminal.send("q")
        #expect(try await terminal.child.nextEvent() == .exited(0))
        #expect(!terminal.screen.showsAlternate && terminal.screen.showsCursor)
      }
    }
  }

  @Test(arguments: Obstacle.allCases)
  func `The service serves without standard error`(obstacle: Obstacle) async throws {
    try await withTemporaryDirectory { directory in
      // Where no file may grow, the journal cannot be written either.
      let journal = obstacle == .fileLimit ? directory.file("runs.jsonl") : "/proc/runs.jsonl"
      let finished = try await withService(
        ["--journal", journal], before: ["env", "-C", directory.path] + obstacle.command(stream: 2), in: directory
      ) { daemon in
        let client = try LineClient(port: daemon.port)
        #expect(try await client.line() == "hello")
        kill(daemon.pid, SIGTERM)
      }
      #expect(finished.ending == .exited(0))
    }
  }

  @Test(arguments: Obstacle.allCases)
  func `The smallest program runs without standard error`(obstacle: Obstacle) async throws {
    try await withTemporaryDirectory { directory in
      try await PseudoTerminal.run(
        obstacle.command(stream: 2) + [builtProduct("Quickstart")], directory: directory.path
      ) { terminal in
        try await terminal.waitForScreen(containing: "Welcome.")
        terminal.send("q")
        #expect(try await terminal.child.nextEvent() == .exited(0))
      }
    }
  }

  // MARK: Standard output

  @Test(
    arguments: [Obstacle.fullDisk, .closed, .fileLimit, .readOnly],
    [["--help"], ["--script", "launch; home"], []])
  func `What was asked for and cannot be written is named, with status 74`(
    obstacle: Obstacle, arguments: [String]
  ) async throws {
    let finished = try await withTemporaryDirectory { directory in
      try await runProgram(
        obstacle.command(stream: 1) + [builtProduct("PregTracker")] + arguments, directory: directory.path)
    }
    #expect(finished.ending == .exited(EX_IOERR))
    let reason =
      switch obstacle {
      case .fullDisk: ENOSPC
      case .fileLimit: EFBIG
      default: EBADF
      }
    #expect(finished.errors == "PregTracker: standard output: \(String(cString: strerror(reason)))\n")
  }

  @Test func `A reader that has seen enough is no failure`() async throws {
    let finished = try await run(.brokenPipe, stream: 1, "PregTracker", "--help")
    #expect(finished.ending == .exited(0) && finished.errors == "")
  }

  // MARK: What is quoted

  @Test(arguments: [
    ["PregTracker", "\u{1B}[2J\u{9B}\u{7F}\u{202E}\n"], ["PregTracker", "--due", "\u{1B}[2J\u{9B}\u{7F}\u{202E}\n"],
    ["PregTracker", "--tips=\u{1B}[2J\u{9B}\u{7F}\u{202E}\n"],
    ["PregTracker", "--script", "\u{1B}[2J\u{9B}\u{7F}\u{202E}\n"],
    ["Service", "\u{1B}[2J\u{9B}\u{7F}\u{202E}\n"], ["Service", "--port", "\u{1B}[2J\u{9B}\u{7F}\u{202E}\n"],
  ])
  func `What a usage error quotes cannot command the terminal`(arguments: [String]) async throws {
    let finished = try await runProgram([builtProduct(arguments[0])] + arguments.dropFirst())
    #expect(finished.errors.contains(#"\u{1B}[2J\u{"#))
    let lines = finished.errors.split(separator: "\n")
    #expect(lines.count <= 2)
    for line in lines {
      #expect(!line.unicodeScalars.contains { [.control, .format].contains($0.properties.generalCategory) }, "\(line)")
    }
  }
}
