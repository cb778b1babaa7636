import AppLifecycle
import AppLifecycleTesting
import Foundation
import LifecycleJournal
import PubSub
import TestFiles
import TestTraits
import Testing

/// What `lifecycle log` makes of a journal.
@Suite(.timeLimit(.hang)) struct LogToolTests: JournalToolSuite {
  let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  @Test @MainActor func `log prints what happened, below each run its records`() async throws {
    try await makeJournal("launch; home; launch", "launch; crash")
    let result = try Tool.run(["log", path], environment: ["TZ": "UTC"])
    #expect(result.status == 0 && result.error == "")
    let lines = lines(result.output)
    #expect(lines.first == "#1  trips, process 100, 2026-11-21 17:00:00")
    #expect(lines.contains("#2  trips, process 101, 2026-11-21 18:00:00"))
    #expect(lines.contains("17:00:00.000  active        call    applicationDidBecomeActive"))
    #expect(lines.contains("17:00:00.000  background    ignored: the application is running already"))
    #expect(lines.last == "18:00:00.000  notRunning    state   notRunning  crash")
    #expect(!result.output.contains("\u{1B}"))
    let colored = try Tool.run("log", "--color=always", path).output
    #expect(colored.contains("\u{1B}[32mactive    \u{1B}[0m  "))
  }

  @Test @MainActor func `log --json prints the records alone, and a run of them can be played again`() async throws {
    try await makeJournal("launch; kill", "launch; home; wait:2s; open", "launch", size: 1_500)
    let kept = try FileManager.default.contentsOfDirectory(atPath: folder.path).count
    #expect(kept > 3)
    let all = try Tool.run("log", "--json", path)
    let records = try lines(all.output).map { try #require(LifecycleRecord(jsonLine: String($0))) }
    #expect(records.callbacks.count == 16)
    for session in ["2", "-2"] {
      let second = try Tool.run("log", "--json", "--session", session, path)
      let replayed = try Tool.run(["simulate", "--replay", "-", "--format", "jsonl"], input: second.output)
      let expected = try await SimulatedSystem().play("launch; home; wait:2s; open")
      let played = try lines(replayed.output).map { try #require(LifecycleRecord(jsonLine: String($0))) }
      #expect(played.callbacks == expected.callbacks && played.last?.instant == expected.last?.instant)
    }
    #expect(try lines(Tool.run("log", "--json", "--session", "last", path).output).count < 20)
    for (session, message) in [("9", "no run 9"), ("-9", "no such run"), ("0", "no run named '0'")] {
      let missing = try Tool.run("log", "--session", session, path)
      #expect(missing.status == 1 && missing.output == "")
      #expect(missing.error == "lifecycle: \(path) holds \(message): it has 3 runs; 'lifecycle sessions' lists them\n")
    }
  }

  @Test func `log gives the times of a recorded run since its beginning, with the days`() throws {
    let played = try Tool.run("simulate", "--format", "jsonl", "launch; home; wait:36h; open; wait:11573000d; home")
    try Data(played.output.utf8).write(to: URL(filePath: path))
    let inputs = try lines(Tool.run("log", path).output).filter {
      $0.contains(#/  (launch|home|open|wait:\w+)$/#) && !$0.contains("  state ")
    }
    #expect(
      inputs == [
        "00:00:00.000  notRunning  launch", "00:00:00.000  active      home", "00:00:00.000  background  wait:36h",
        "1d 12:00:00.000  suspended   open", "1d 12:00:00.000  active      wait:11573000d",
        "11573001d 12:00:00.000  active      home",
      ])
  }

  @Test @MainActor func `log --since leaves out what was before`() async throws {
    try await makeJournal("launch; home; wait:3s; open", "launch")
    func output(_ since: String) throws -> String {
      let result = try Tool.run(["log", "--since", since, path], environment: ["TZ": "UTC"])
      #expect(result.status == 0)
      return result.output
    }
    #expect(try output("2026-11-21T17:00:02").contains("#1") && !output("2026-11-21T17:00:02").contains("home"))
    #expect(try output("2026-11-21 17:00:02").contains("applicationWillEnterForeground"))
    #expect(try !output("2026-11-21T17:30").contains("#1") && output("2026-11-21T17:30").contains("#2"))
    #expect(try output("2026-11-22") == "" && output("0s") == "")
  }

  @Test @MainActor func `--until leaves out what was from then on`() async throws {
    try await makeJournal("launch; home; wait:3s; open", "launch")
    let log = try Tool.run(["log", "--until", "2026-11-21T17:00:02", path], environment: ["TZ": "UTC"])
    #expect(log.status == 0 && log.output.contains("home") && !log.output.contains("#2"))
    #expect(!log.output.contains("applicationWillEnterForeground"))
    let times = ["--since", "2026-11-21T17:00:02", "--until", "2026-11-21T17:30"]
    let between = try Tool.run(["log"] + times + [path], environment: ["TZ": "UTC"])
    #expect(between.output.contains("applicationWillEnterForeground") && !between.output.contains("#2"))
  }

  @Test @MainActor func `what is damaged is named with its place, and the rest is read; status 1`() async throws {
    try await makeJournal("launch")
    let size = try Data(contentsOf: URL(filePath: path)).count
    try add(
      "\u{1B}[2Jnonsense\n"
        + #"{"t":1.0,"kind":"report","name":"\u001b]0;x\u0007\u202e","state":"active","scene":null,"cause":"c"}"#
        + "\n{\"t\":")
    let result = try Tool.run("log", path)
    #expect(result.status == 1)
    let content = try Data(contentsOf: URL(filePath: path))
    let number = lines(String(decoding: content, as: UTF8.self)).count
    #expect(
      lines(result.error) == [
        "lifecycle: \(path):\(number - 2): not a JSON object, at byte \(size)",
        "lifecycle: \(path):\(number): a line without an end, at byte \(content.count - 5)",
      ])
    // What a terminal would obey is written out.
    #expect(result.output.contains("report  \\u{1B}]0;x\\u{7}\\u{202E}") && !result.output.contains("\u{1B}"))
  }

  @Test @MainActor func `log --follow waits for more, in the next file too`() async throws {
    var configuration = Journal.Configuration()
    configuration.maximumSize = 2_000
    let journal = Journal(at: path, configuration: configuration)
    let follower = try Tool.Following(["log", "--follow", "--json", path])
    for number in 0..<60 {
      let record = LifecycleRecord(
        instant: .milliseconds(number), kind: .notification, name: "n\(number)", state: .active, cause: "test")
      journal.append(record)
      #expect(follower.nextLine() == record.jsonLine)
    }
    follower.end()
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count > 2)
  }

  @Test func `log --follow says at its end how many more lines are damaged`() throws {
    let record = LifecycleRecord(instant: .zero, kind: .input, name: "launch", state: .active, cause: "test")
    try Data((String(repeating: "nonsense\n", count: 25) + record.jsonLine + "\n").utf8).write(to: URL(filePath: path))
    let result = try Tool.shell("\"$0\" log --follow --json '\(path)' | head -n 1", input: "")
    #expect(result.output == record.jsonLine + "\n")
    #expect(lines(result.error).count == 21 && lines(result.error).last == "lifecycle: and 5 more damaged lines")
  }

  @Test @MainActor func `log --follow begins anew in a file that was cut`() async throws {
    let journal = Journal(at: path)
    let follower = try Tool.Following(["log", "--follow", "--json", path])
    func expectNext(_ number: Int) {
      let record = LifecycleRecord(
        instant: .milliseconds(number), kind: .input, name: "n\(number)", state: .active, cause: "test")
      journal.append(record)
      #expect(follower.nextLine() == record.jsonLine)
    }
    for number in 0..<20 { expectNext(number) }
    try #require(truncate(path, 0) == 0)
    for number in 20..<60 { expectNext(number) }
    follower.end()
  }
}
