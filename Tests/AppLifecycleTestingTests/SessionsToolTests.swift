import AppLifecycle
import AppLifecycleTesting
import Foundation
import LifecycleJournal
import PubSub
import Scheduling
import TestFiles
import TestTraits
import Testing

/// What `lifecycle sessions` makes of a journal.
@Suite(.timeLimit(.hang)) struct SessionsToolTests: JournalToolSuite {
  let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  @Test @MainActor func `sessions says of each run how long it was, in which states, and how it ended`() async throws {
    try await makeJournal(
      "launch; wait:90s; home; wait:2h; open; wait:10s; kill", "launch; wait:1m; crash", "launch; home; wait:4s",
      "home")
    let result = try Tool.run(["sessions", path], environment: ["TZ": "UTC"])
    #expect(result.status == 0 && result.error == "")
    #expect(
      lines(result.output) == [
        "   #  START                  LENGTH     ACTIVE   INACTIVE BACKGROUND  SUSPENDED  ENDED",
        "   1  2026-11-21 17:00:00    2h 01m     1m 40s          -       5.0s     1h 59m  terminated",
        "   2  2026-11-21 18:00:00    1m 00s     1m 00s          -          -          -  crashed in the foreground",
        "   3  2026-11-21 19:00:00      ≥ 0s          -          -          -          -  killed in the background",
        "   4  2026-11-21 20:00:00      ≥ 0s          -          -          -          -  unknown",
      ])
    let json = try Tool.run("sessions", "--json", path).output
    let runs = try lines(json).map {
      try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
    }
    #expect(
      runs.map { $0["ended"] as? String } == ["terminated", "crashed", "killed", "unknown"])
    #expect(runs.map { $0["state"] as? String } == ["background", "active", "background", "notRunning"])
    #expect(runs[0]["length"] as? Double == 7_300 && runs[0]["pid"] as? Int == 100)
    #expect(runs.map { $0["lengthIsLowerBound"] as? Bool } == [false, false, true, true])
  }

  @Test @MainActor func `lines of a newer version are a run of their own, of which nothing is known`() async throws {
    try await makeJournal("launch; kill")
    let crash = JournalCrash(instant: .seconds(9), signal: "SIGSEGV").jsonLine
    for _ in 1...2 { try add("{\"journal\":\"run\",\"version\":2}\n\(crash)\n") }
    try await makeJournal("launch; home")
    let result = try Tool.run(["sessions", path], environment: ["TZ": "UTC"])
    #expect(result.status == 1 && result.error.contains("format version 2, which is newer than this program"))
    let rows = lines(result.output).dropFirst()
    #expect(rows.map { String($0.prefix(4)) } == ["   1", "   2", "   3"], "\(rows)")
    for (row, end) in zip(rows, ["  terminated", "  unknown, 2 damaged lines", "  the device restarted"]) {
      #expect(row.hasSuffix(end), "\(row)")
    }
  }

  @Test func `log and timeline name a run of a newer version as sessions does, with an end that is unknown`() throws {
    let crash = JournalCrash(instant: .seconds(9), signal: "SIGSEGV").jsonLine
    try Data("{\"journal\":\"run\",\"version\":2}\n\(crash)\n".utf8).write(to: URL(filePath: path))
    #expect(try Tool.run("log", path).output.hasPrefix("#1  a run of a newer version\n"))
    let page = try runs(of: Tool.run("timeline", path, "--format", "html", "-o", "-").output)
    #expect(page.map { $0["title"] as? String } == ["a run of a newer version"])
    #expect(page.map { $0["ended"] as? String } == ["unknown"])
    // A run without any header was played by a script, and nothing of it can have ended.
    try Data("\(crash)\n".utf8).write(to: URL(filePath: path))
    #expect(try Tool.run("log", path).output.hasPrefix("#1  a recorded run\n"))
    let recorded = try runs(of: Tool.run("timeline", path, "--format", "html", "-o", "-").output)
    #expect(recorded.map { [$0["title"] as? String, $0["ended"] as? String] } == [["a recorded run", ""]])
  }

  @Test @MainActor func `sessions says of a program that vanished how long it ran at least`() async throws {
    try await makeJournal("launch; wait:10m; memory; wait:130s", "launch; wait:90s; home; wait:2s")
    let result = try Tool.run(["sessions", path], environment: ["TZ": "UTC"])
    #expect(
      lines(result.output).suffix(2) == [
        "   1  2026-11-21 17:00:00 ≥ 12m 00s  ≥ 12m 00s          -          -          -  killed in the foreground",
        "   2  2026-11-21 18:00:00  ≥ 1m 30s     1m 30s          -          -          -  the device restarted",
      ])
    let json = try Tool.run("sessions", "--json", path).output
    #expect(
      json.contains("\"length\":720.0,\"lengthIsLowerBound\":true,\"times\":{") && json.contains("\"active\":720.0"))
    // The lines that say so are shown nowhere else, and a page has the run up to the last of them.
    let log = try Tool.run("log", path)
    #expect(log.status == 0 && !log.output.contains("alive") && log.error == "")
    let page = try runs(of: Tool.run("timeline", path, "--format", "html", "-o", "-").output)
    #expect((page[0]["times"] as? [Double])?.suffix(2) == [600, 720])
    let bar = (page[0]["lanes"] as? [[String: Any]])?.first?["items"] as? [[Any]]
    #expect(bar?.last?[0] as? String == "active" && bar?.last?[4] as? Double == 720)
  }

  /// The wall clock is set while the program runs.
  @Test(arguments: [-3_600, 86_400])
  func `sessions gives the length of a run whose wall clock was set`(seconds: Int) throws {
    let time = Guarded(Duration.zero)
    let facts = RunFacts(
      program: "trips", processID: 7, bootID: "boot",
      wallTime: {
        let now = time.withLock { $0 }
        return .seconds(1_795_280_400) + now + (now > .seconds(3) ? .seconds(seconds) : .zero)
      }, uptime: { .seconds(77) + time.withLock { $0 } })
    let journal = Journal(
      at: path, configuration: Journal.Configuration(), bus: nil, instant: .zero, files: SystemFiles(), facts: facts)
    for second in 1...5 {
      time.withLock { $0 = .seconds(second) }
      journal.append(
        LifecycleRecord(instant: .seconds(second), kind: .state, name: "active", state: .active, cause: "launch"))
    }
    journal.close()
    #expect(
      try lines(Tool.run(["sessions", path], environment: ["TZ": "UTC"]).output).last?.contains(" ≥ 5.0s ") == true)
    #expect(try Tool.run("sessions", "--json", path).output.contains("\"length\":5.0,"))
  }

  #if os(Linux)
    @Test func `sessions does not ask the wall clock how long a program has run until now`() throws {
      // It began eight seconds ago. Since then the wall clock was set back by an hour.
      let now = RunFacts.ofThisProcess()
      let (wall, up) = (now.wallTime() + .seconds(3_592), (now.uptime() ?? .zero) - .seconds(8))
      let facts = RunFacts(program: "trips", processID: 7, bootID: "boot", wallTime: { wall }, uptime: { up })
      let journal = Journal(
        at: path, configuration: Journal.Configuration(), bus: nil, instant: .zero, files: SystemFiles(), facts: facts)
      let json = try Tool.run("sessions", "--json", path).output
      let run = try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
      let length = try #require(run["length"] as? Double)
      let most = ((RunFacts.ofThisProcess().uptime() ?? .zero) - up) / .seconds(1)
      #expect((8...most).contains(length))
      journal.close()
    }

    @Test func `sessions says of a program that runs how long it has run until now`() throws {
      // It began eight seconds ago, and has written nothing since it became active.
      let (began, files) = (RunFacts.ofThisProcess().wallTime() - .seconds(8), SystemFiles())
      let facts = RunFacts(program: "trips", processID: 7, bootID: "boot", wallTime: { began })
      let journal = Journal(
        at: path, configuration: Journal.Configuration(), bus: nil, instant: .zero, files: files, facts: facts)
      journal.append(
        LifecycleRecord(instant: .zero, kind: .state, name: "active", state: .active, cause: "launch"))
      func run() throws -> [String: Any] {
        let json = try Tool.run("sessions", "--json", path).output
        return try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
      }
      let running = try run()
      let most = (RunFacts.ofThisProcess().wallTime() - began) / .seconds(1)
      let times = try #require(running["times"] as? [String: Double])
      #expect(running["ended"] as? String == "stillRunning" && running["lengthIsLowerBound"] as? Bool == false)
      let length = try #require(running["length"] as? Double)
      #expect((8...most).contains(length) && times["active"] == length && times["background"] == 0)
      #expect(try !Tool.run("sessions", path).output.contains("≥"))
      journal.close()
      let vanished = try run()
      #expect(vanished["length"] as? Double == 0 && vanished["lengthIsLowerBound"] as? Bool == true)
      #expect(try Tool.run("sessions", path).output.contains("      ≥ 0s  "))
    }

    @Test func `sessions knows a run that goes on`() throws {
      let journal = Journal(at: path)
      #expect(try lines(Tool.run("sessions", path).output).last?.hasSuffix("  still running") == true)
      journal.close()
      #expect(try lines(Tool.run("sessions", path).output).last?.hasSuffix("  unknown") == true)
    }
  #endif
}
