import AppLifecycle
import AppLifecycleTesting
import Foundation
import LifecycleJournal
import TestTraits
import Testing

/// The tool as a person has it: the built executable in a process of its own.
@Suite(.timeLimit(.hang)) struct LifecycleToolTests {
  @Test func `simulate prints the record of a bare application as JSON Lines`() async throws {
    for script in [
      "launch; home; wait:5s; open", "launch:background open", "passcode:on launch lock unlock kill", "home",
    ] {
      let record = try await SimulatedSystem().play(script)
      let result = try Tool.run("simulate", "--format", "jsonl", script)
      #expect(result == Tool.Result(status: 0, output: record.jsonLines, error: ""))
    }
  }

  @Test func `simulate prints a table for people by default`() async throws {
    let record = try await SimulatedSystem().play("launch; home")
    #expect(try Tool.run("simulate", "launch; home").output == record.table)
    #expect(try Tool.run("simulate", "--format=table", "--profile=app", "launch; home").output == record.table)
    #expect(try Tool.run("simulate", "--profile", "app", "--", "launch; home").output == record.table)
  }

  @Test func `simulate plays the scene-based life cycle, too`() async throws {
    let script = "launch; scene:open:second; home"
    let record = try await SimulatedSystem(profile: .scenes).play(script)
    #expect(try Tool.run("simulate", "--profile", "scene", script).output == record.table)
    #expect(try Tool.run("simulate", "--profile=scene", "--format=jsonl", script).output == record.jsonLines)
    #expect(record.table.contains("call    sceneDidBecomeActive (second)"))
  }

  @Test func `without a script, or with a dash, it is read from standard input`() async throws {
    let record = try await SimulatedSystem().play("launch home")
    for arguments in [["simulate", "--format", "jsonl"], ["simulate", "-", "--format", "jsonl"]] {
      let result = try Tool.run(arguments, input: "# the user\r\nlaunch\r\nhome # and leaves\r\n")
      #expect(result == Tool.Result(status: 0, output: record.jsonLines, error: ""))
    }
    #expect(
      try Tool.run(["simulate", "--format", "jsonl"], input: "") == Tool.Result(status: 0, output: "", error: ""))
  }

  @Test(
    arguments: [
      ("launch; nope", "1:9: unknown action \"nope\"\n"),
      ("launch\r\n  caf\u{65}\u{301}", "2:3: unknown action \"cafe\\u{301}\"\n"),
      ("launch\n\u{1B}[31m", "2:1: unknown action \"\\u{1B}[31m\"\n"),
    ])
  func `a bad script is told on standard error, status 2, and nothing has run`(script: String, message: String) throws {
    #expect(try Tool.run("simulate", "--format", "jsonl", script) == Tool.Result(status: 2, output: "", error: message))
    #expect(try Tool.run(["simulate"], input: script) == Tool.Result(status: 2, output: "", error: message))
  }

  @Test func `bytes that are no UTF-8 are a mistake in the script, not a crash`() throws {
    let result = try Tool.run(["simulate"], input: Data([0x6C, 0xFF, 0xFE]))
    #expect(result == Tool.Result(status: 2, output: "", error: "1:1: unknown action \"l\\u{FFFD}\\u{FFFD}\"\n"))
  }

  @Test func `a recorded run is replayed, from a file or from standard input`() async throws {
    let record = try await SimulatedSystem().play("launch; home; wait:5s; open; interrupt:call")
    let file = FileManager.default.temporaryDirectory.appending(path: "trace-\(UUID().uuidString).jsonl")
    defer { try? FileManager.default.removeItem(at: file) }
    try Data(record.jsonLines.utf8).write(to: file)
    let expected = Tool.Result(status: 0, output: record.jsonLines, error: "")
    #expect(try Tool.run("simulate", "--format", "jsonl", "--replay", file.path) == expected)
    #expect(
      try Tool.run(["simulate", "--format=jsonl", "--replay=-"], input: record.jsonLines + "\r\n\n") == expected)
  }

  @Test func `a recorded run with scenes is replayed with scenes, unless something else is asked for`() async throws {
    let record = try await SimulatedSystem(profile: .scenes).play("launch; scene:open:b; home; wait:1m; open; kill")
    let replay = try Tool.run(["simulate", "--format=jsonl", "--replay=-"], input: record.jsonLines)
    #expect(replay == Tool.Result(status: 0, output: record.jsonLines, error: ""))
    let other = try Tool.run(["simulate", "--format=jsonl", "--profile=app", "--replay=-"], input: record.jsonLines)
    #expect(other.output.contains("an application without scenes has no windows"))
  }

  /// A host keeps its program awake without an input that says so.
  @Test(
    arguments: [
      "launch:background; mode:begin:host; wait:1m; kill",
      "launch; home; suspend; wake; mode:begin:host; wait:1m; kill",
      "launch; mode:begin:host; home; suspend; wait:1m; open; home; wait:1m; kill",
    ])
  func `the record of a host is replayed without a suspension that it has not`(script: String) async throws {
    let record = try await SimulatedSystem().play(script)
    #expect(record.callbacks.last == "willTerminate (background)")
    try await expectSameReplay(of: record.filter { $0.kind != .input || !$0.name.contains(/^(mode|wait):/) })
  }

  @Test(
    arguments: [
      "launch; suspend; home; wait:1m; open", "launch; home; suspend; open; home; wait:1m; kill",
      "launch; slow:didEnterBackground:7s; home; open; kill",
    ])
  func `a record of a simulator is replayed with the suspensions that it has by time`(script: String) async throws {
    let record = try await SimulatedSystem().play(script)
    try await expectSameReplay(of: record)
    try await expectSameReplay(of: record.filter { $0.kind != .input || !$0.name.hasPrefix("wait:") })
  }

  private func expectSameReplay(of record: [LifecycleRecord]) async throws {
    let result = try Tool.run(["simulate", "--format=jsonl", "--replay=-"], input: record.jsonLines)
    #expect(result.status == 0 && result.error == "")
    let played = try result.output.split(separator: "\n").map { try #require(LifecycleRecord(jsonLine: String($0))) }
    func commits(_ record: [LifecycleRecord]) -> [String] {
      record.filter { $0.kind == .state }.map { "\($0.name) \($0.instant)" }
    }
    #expect(played.callbacks == record.callbacks && commits(played) == commits(record))
  }

  @Test func `several runs are not replayed as one: the second one is told with its place, status 2`() async throws {
    // The first one ends without a trace, as by SIGKILL.
    let second = try await SimulatedSystem().play("launch; home; wait:1m; open").jsonLines
    for first in ["launch; wait:100s; home; wait:5ms", "launch"] {
      let first = try await SimulatedSystem().play(first)
      let result = try Tool.run(["simulate", "--replay", "-"], input: "\n" + first.jsonLines + second)
      let message = "\(first.count + 2):1: another run begins here; choose one with 'lifecycle log --session'\n"
      #expect(result == Tool.Result(status: 2, output: "", error: message))
    }
    // A simulator has several processes in one run.
    let one = try await SimulatedSystem().play("launch; kill; launch; crash; wait:1m; open").jsonLines
    #expect(
      try Tool.run(["simulate", "--format=jsonl", "--replay=-"], input: one)
        == Tool.Result(status: 0, output: one, error: ""))
  }

  @Test(
    arguments: [
      "wait:999999999999d; launch", "wait:999999999999s; wait:1s; launch",
      "launch; slow:didEnterBackground:11574075d; home",
    ])
  func `a script with times that no reader takes is refused, status 2`(script: String) throws {
    for format in ["jsonl", "table"] {
      let result = try Tool.run("simulate", "--format", format, script)
      #expect(result.status == 2 && result.output == "")
      #expect(result.error == "lifecycle: the script lasts 10^12 seconds or more, and no record may have such a time\n")
    }
  }

  @Test func `the longest script can be replayed`() throws {
    let played = try Tool.run("simulate", "--format", "jsonl", "launch; wait:11574074d; home")
    #expect(played.status == 0)
    #expect(try Tool.run(["simulate", "--format", "jsonl", "--replay", "-"], input: played.output) == played)
  }

  @Test func `a recorded run with a damaged line is told with its place, status 2`() throws {
    let launch = #"{"t":0.0,"kind":"input","name":"launch","state":"notRunning","scene":null,"cause":"launch"}"#
    for damage in ["{", "[1]", "\u{0}", launch + launch] {
      let result = try Tool.run(["simulate", "--replay", "-"], input: launch + "\n" + damage + "\n")
      #expect(result == Tool.Result(status: 2, output: "", error: "2:1: not a record of a run\n"))
    }
    let unknown = launch.replacing("\"launch\"", with: "\"jump\"")
    let refused = try Tool.run(["simulate", "--replay", "-"], input: "\n\(launch)\n\n\(unknown)\n")
    #expect(refused == Tool.Result(status: 2, output: "", error: "4:1: unknown action \"jump\"\n"))
    let missing = try Tool.run("simulate", "--replay", "/nonexistent/run.jsonl")
    #expect(missing.status == 74 && missing.error.hasPrefix("lifecycle: cannot open /nonexistent/run.jsonl: "))
  }

  @Test(
    arguments: [
      (["simulate", "--replay"], "--replay needs a file"),
      (["simulate", "--replay", "a", "launch"], "a script and --replay exclude each other"),
      ([], "a command is missing"), (["play"], "no command 'play'"), (["simulate", "--fast"], "no option '--fast'"),
      (["simulate", "--format"], "--format needs a value: table or jsonl"),
      (["simulate", "--format", "xml", "launch"], "--format is table or jsonl, not 'xml'"),
      (["simulate", "--format=", "launch"], "--format needs a value: table or jsonl"),
      (["simulate", "--profile"], "--profile needs a value: app or scene"),
      (["simulate", "--profile", "web"], "--profile is app or scene, not 'web'"),
      (["simulate", "launch", "home"], "one script is expected, not 2"),
    ] as [([String], String)])
  func `wrong usage is explained on standard error, status 64`(arguments: [String], message: String) throws {
    let result = try Tool.run(arguments)
    #expect(result.status == 64)
    #expect(result.output == "")
    #expect(result.error.contains(message))
    let command = arguments.first == "simulate" ? "simulate " : ""
    #expect(result.error.hasSuffix("Try 'lifecycle \(command)--help'.\n"))
  }

  @Test func `help teaches, within 80 columns, and every action in it is one`() throws {
    for arguments in [["--help"], ["help"], ["-h"], ["simulate", "--help"], ["simulate", "launch", "-h"]] {
      let result = try Tool.run(arguments)
      #expect(result.status == 0 && result.error == "")
      #expect(result.output.contains("lifecycle simulate [--profile app|scene] [--format table|jsonl] [SCRIPT | -]"))
      #expect(result.output.split(separator: "\n").allSatisfy { $0.count <= 80 })
    }
    let help = try Tool.run("simulate", "--help").output
    #expect(help.contains("--profile scene") && help.contains("scene:connect|open|background|reclaim|close:ID"))
    for token in [
      "launch:background", "open", "home", "lock", "unlock", "memory", "time", "fetch", "reboot", "suspend",
      "wake", "reclaim", "quit", "kill", "crash", "interrupt:NAME", "end:NAME", "task:begin:NAME", "task:end:NAME",
      "mode:begin:NAME", "mode:end:NAME",
    ] {
      #expect(help.contains(token))
      #expect(throws: Never.self) { try Script(token) }
    }
    #expect(help.contains("slow:CALL:DURATION") && help.contains("slow:save:DURATION  fail:save"))
  }

  @Test func `a reader that has seen enough ends the tool quietly`() throws {
    let script = String(repeating: "launch; kill; ", count: 500)
    let result = try Tool.shell(
      "{ \"$0\" simulate --format jsonl -; echo \"status $?\" >&2; } | head -n 1", input: script)
    #expect(
      result
        == Tool.Result(
          status: 0,
          output: #"{"t":0.0,"kind":"input","name":"launch","state":"notRunning","scene":null,"cause":"launch"}"#
            + "\n",
          error: "status 0\n"))
  }

  @Test func `output that cannot be written and input that cannot be read are errors, status 74`() throws {
    let unread = try Tool.shell("\"$0\" simulate <&-", input: "")
    #expect(
      unread.status == 74 && unread.output == "" && unread.error.hasPrefix("lifecycle: cannot read standard input: "))
    let unwritten = try Tool.shell("\"$0\" simulate launch >&-", input: "")
    #expect(unwritten.status == 74 && unwritten.error.hasPrefix("lifecycle: cannot write to standard output: "))
  }
}

/// Runs the built tool.
enum Tool {
  struct Result: Equatable {
    var status: Int32
    var output: String
    var error: String
  }

  static func run(_ arguments: String...) throws -> Result { try run(arguments) }

  static func run(_ arguments: [String], input: String = "", environment: [String: String] = [:]) throws -> Result {
    try start(executable, arguments, Data(input.utf8), environment)
  }

  static func run(_ arguments: [String], input: Data) throws -> Result { try start(executable, arguments, input) }

  /// Runs a shell's command line, in which `$0` is the tool.
  static func shell(_ commandLine: String, input: String) throws -> Result {
    try start(URL(filePath: "/bin/sh"), ["-c", commandLine, executable.path], Data(input.utf8))
  }

  private static func start(
    _ executable: URL, _ arguments: [String], _ input: Data, _ environment: [String: String] = [:]
  ) throws -> Result {
    let process = Process()
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    let (standardInput, output, error) = (Pipe(), Pipe(), Pipe())
    process.executableURL = executable
    process.arguments = arguments
    process.standardInput = standardInput
    process.standardOutput = output
    process.standardError = error
    try process.run()
    // A tool that ends without reading its input breaks the pipe; that is its own affair. SIGPIPE is the thread's, and goes with it.
    let writer = standardInput.fileHandleForWriting
    Thread.detachNewThread {
      var broken = sigset_t()
      sigemptyset(&broken)
      sigaddset(&broken, SIGPIPE)
      pthread_sigmask(SIG_BLOCK, &broken, nil)
      try? writer.write(contentsOf: input)
      try? writer.close()
    }
    let text = try output.fileHandleForReading.readToEnd() ?? Data()
    let complaint = try error.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return Result(
      status: process.terminationStatus, output: String(decoding: text, as: UTF8.self),
      error: String(decoding: complaint, as: UTF8.self))
  }

  /// The tool while it runs on and on.
  final class Following {
    private let process = Process()
    private let output = Pipe()
    private var pending = Data()

    /// Starts the tool; with a wrapper, as `setpriv`, by that command.
    init(_ arguments: [String], by wrapper: [String] = []) throws {
      process.executableURL = wrapper.isEmpty ? Tool.executable : URL(filePath: "/usr/bin/env")
      process.arguments = (wrapper.isEmpty ? [] : wrapper + [Tool.executable.path]) + arguments
      process.standardOutput = output
      try process.run()
    }

    /// The next line that it prints, without its end; nil if it ends without one, or prints none within four minutes.
    func nextLine() -> String? {
      let limit = ContinuousClock.now + .seconds(240)
      while true {
        if let end = pending.firstIndex(of: 0x0A) {
          defer { pending = Data(pending[(end + 1)...]) }
          return String(decoding: pending[..<end], as: UTF8.self)
        }
        var source = pollfd(fd: output.fileHandleForReading.fileDescriptor, events: Int16(POLLIN), revents: 0)
        let left = limit - .now
        guard left > .zero, poll(&source, 1, Int32(left / .milliseconds(1))) > 0 else { return nil }
        let more = output.fileHandleForReading.availableData
        if more.isEmpty { return nil }
        pending += more
      }
    }

    /// By SIGKILL: a child of a test is born with SIGTERM blocked.
    func end() {
      kill(process.processIdentifier, SIGKILL)
      process.waitUntilExit()
    }
  }

  static let executable = URL(ofProduct: "lifecycle")
}
