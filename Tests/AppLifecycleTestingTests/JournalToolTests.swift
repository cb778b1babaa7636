import AppLifecycle
import AppLifecycleTesting
import Foundation
import LifecycleJournal
import PubSub
import TestTraits
import Testing

/// What the tool makes of a journal.
@Suite(.timeLimit(.hang)) struct JournalToolTests {
  private let folder: URL
  private var path: String { folder.appending(path: "trips.jsonl").path }

  init() throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "tool-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  /// Makes a journal of a run for each script; the wall clock begins at 2026-11-21 17:00 UTC, an hour later for each.
  @MainActor private func makeJournal(_ scripts: String..., profile: LifecycleProfile = .application, size: Int? = nil)
    async throws
  {
    for (index, script) in scripts.enumerated() {
      let system = SimulatedSystem(profile: profile)
      let clock = system.clock
      let start = Duration.seconds(1_795_280_400 + 3_600 * index)
      let facts = RunFacts(
        program: "trips", processID: Int32(100 + index), bootID: "boot",
        wallTime: { start + clock.now.offset })
      var configuration = Journal.Configuration()
      configuration.maximumSize = size
      configuration.keptFiles = 100
      let journal = Journal(
        at: path, of: system.application, configuration: configuration, files: SystemFiles(), facts: facts)
      try await system.play(script)
      journal.close()
    }
  }

  private func add(_ text: String) throws {
    let file = try FileHandle(forWritingTo: URL(filePath: path))
    try file.seekToEnd()
    try file.write(contentsOf: Data(text.utf8))
    try file.close()
  }

  private func lines(_ text: String) -> [String] { text.split(separator: "\n").map(String.init) }

  // MARK: log

  @Test @MainActor func `log prints what happened, below each run its records`() async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
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
    defer { try? FileManager.default.removeItem(at: folder) }
    try await makeJournal("launch; kill", "launch; home; wait:2s; open", "launch", size: 1_500)
    let kept = try FileManager.default.contentsOfDirectory(atPath: folder.path).count
    #expect(kept > 3)
    let all = try Tool.run("log", "--json", path)
    let records = try lines(all.output).map { try JSONDecoder().decode(LifecycleRecord.self, from: Data($0.utf8)) }
    #expect(records.callbacks.count == 16)
    for session in ["2", "-2"] {
      let second = try Tool.run("log", "--json", "--session", session, path)
      let replayed = try Tool.run(["simulate", "--replay", "-", "--format", "jsonl"], input: second.output)
      let expected = try await SimulatedSystem().play("launch; home; wait:2s; open")
      let played = try lines(replayed.output).map {
        try JSONDecoder().decode(LifecycleRecord.self, from: Data($0.utf8))
      }
      #expect(played.callbacks == expected.callbacks && played.last?.instant == expected.last?.instant)
    }
    #expect(try lines(Tool.run("log", "--json", "--session", "last", path).output).count < 20)
    for (session, message) in [("9", "no run 9"), ("-9", "no such run"), ("0", "no run named '0'")] {
      let missing = try Tool.run("log", "--session", session, path)
      #expect(missing.status == 1 && missing.output == "")
      #expect(missing.error == "lifecycle: \(path) holds \(message): it has 3 runs; 'lifecycle sessions' lists them\n")
    }
  }

  @Test @MainActor func `log --since leaves out what was before`() async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
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
    defer { try? FileManager.default.removeItem(at: folder) }
    try await makeJournal("launch; home; wait:3s; open", "launch")
    let log = try Tool.run(["log", "--until", "2026-11-21T17:00:02", path], environment: ["TZ": "UTC"])
    #expect(log.status == 0 && log.output.contains("home") && !log.output.contains("#2"))
    #expect(!log.output.contains("applicationWillEnterForeground"))
    let times = ["--since", "2026-11-21T17:00:02", "--until", "2026-11-21T17:30"]
    let between = try Tool.run(["log"] + times + [path], environment: ["TZ": "UTC"])
    #expect(between.output.contains("applicationWillEnterForeground") && !between.output.contains("#2"))
  }

  @Test @MainActor func `what is damaged is named with its place, and the rest is read; status 1`() async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
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
        "lifecycle: \(path):\(number - 2): no JSON object, at byte \(size)",
        "lifecycle: \(path):\(number): a line without an end, at byte \(content.count - 5)",
      ])
    // What a terminal would obey is written out.
    #expect(result.output.contains("report  \\u{1B}]0;x\\u{7}\\u{202E}") && !result.output.contains("\u{1B}"))
  }

  @Test @MainActor func `log --follow waits for more, in the next file too`() async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
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

  @Test @MainActor func `log --follow begins anew in a file that was cut`() async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
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

  // MARK: sessions

  @Test @MainActor func `sessions says of each run how long it was, in which states, and how it ended`() async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
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
      runs.map { $0["ended"] as? String } == ["terminated", "crashedInForeground", "killedInBackground", "unknown"])
    #expect(runs[0]["length"] as? Double == 7_300 && runs[0]["pid"] as? Int == 100)
    #expect(runs.map { $0["lengthIsLowerBound"] as? Bool } == [false, false, true, true])
  }

  @Test @MainActor func `sessions says of a program that vanished how long it ran at least`() async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    try await makeJournal("launch; wait:10m; memory; wait:130s", "launch; wait:90s; home; wait:2s")
    let result = try Tool.run(["sessions", path], environment: ["TZ": "UTC"])
    #expect(
      lines(result.output).suffix(2) == [
        "   1  2026-11-21 17:00:00 ≥ 12m 00s  ≥ 12m 00s          -          -          -  crashed in the foreground",
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

  #if os(Linux)
    @Test func `sessions says of a program that runs how long it has run until now`() throws {
      defer { try? FileManager.default.removeItem(at: folder) }
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
      defer { try? FileManager.default.removeItem(at: folder) }
      let journal = Journal(at: path)
      #expect(try lines(Tool.run("sessions", path).output).last?.hasSuffix("  still running") == true)
      journal.close()
      #expect(try lines(Tool.run("sessions", path).output).last?.hasSuffix("  unknown") == true)
    }
  #endif

  // MARK: names

  @Test func `names has every event with the name that it is posted under`() throws {
    let rows = try lines(Tool.run("names").output).map { $0.split(separator: " ").map(String.init) }
    #expect(rows.count == 1 + ApplicationCallback.allCases.count + 1 + SceneCallback.allCases.count)
    func raw(_ event: String) -> String? { rows.first { $0.first == event }?.last }
    let events: [(String, any BusEvent.Type)] = [
      ("Application.DidFinishLaunching", Application.DidFinishLaunching.self),
      ("Application.DidBecomeActive", Application.DidBecomeActive.self),
      ("Application.WillResignActive", Application.WillResignActive.self),
      ("Application.DidEnterBackground", Application.DidEnterBackground.self),
      ("Application.WillEnterForeground", Application.WillEnterForeground.self),
      ("Application.WillTerminate", Application.WillTerminate.self),
      ("Application.DidReceiveMemoryWarning", Application.DidReceiveMemoryWarning.self),
      ("Application.SignificantTimeChange", Application.SignificantTimeChange.self),
      ("Application.ProtectedDataWillBecomeUnavailable", Application.ProtectedDataWillBecomeUnavailable.self),
      ("Application.ProtectedDataDidBecomeAvailable", Application.ProtectedDataDidBecomeAvailable.self),
      ("Application.StateDidChange", Application.StateDidChange.self), ("Scene.WillConnect", Scene.WillConnect.self),
      ("Scene.WillEnterForeground", Scene.WillEnterForeground.self), ("Scene.DidActivate", Scene.DidActivate.self),
      ("Scene.WillDeactivate", Scene.WillDeactivate.self), ("Scene.DidEnterBackground", Scene.DidEnterBackground.self),
      ("Scene.DidDisconnect", Scene.DidDisconnect.self),
    ]
    for (name, type) in events { #expect(raw(name) == type.name.rawValue) }
    #expect(try lines(Tool.run("names", "--json").output).count == rows.count - 1)
  }

  // MARK: timeline

  @Test @MainActor func `timeline makes one page that stands alone`() async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    try await makeJournal(
      "launch; wait:1m; scene:open:second; home; wait:1h; open; interrupt:call; kill", "launch", profile: .scenes)
    try add(#"{"t":1.0,"kind":"report","name":"</script><b>\u001b","state":"active","scene":null,"cause":"c"}"# + "\n")
    let page = folder.appending(path: "page.html")
    #expect(try Tool.run("timeline", path, "-o", page.path) == Tool.Result(status: 0, output: "", error: ""))
    let html = try String(contentsOf: page, encoding: .utf8)
    #expect(html.hasPrefix("<!DOCTYPE html>") && html.hasSuffix("</html>\n"))
    for forbidden in ["http://", "https://", "src=", "@import", "url(", "fetch(", "<b>", "\u{1B}"] {
      #expect(!html.contains(forbidden))
    }
    #expect(html.contains("default-src 'none'") && html.contains("prefers-color-scheme: dark"))
    // The data that its script draws; what a browser makes of it, TimelinePageTests look at.
    let data = try #require(
      html.components(separatedBy: "id=\"data\">").last?.components(separatedBy: "</script>").first)
    let runs = try #require(try JSONSerialization.jsonObject(with: Data(data.utf8)) as? [[String: Any]])
    #expect(runs.map { $0["session"] as? Int } == [1, 2])
    let lanes = try #require(runs[0]["lanes"] as? [[String: Any]])
    #expect(
      lanes.map { $0["name"] as? String } == [
        "state", "scene main", "scene second", "delegate and notifications", "system",
      ])
    let states = try #require(lanes[0]["items"] as? [[Any]])
    let suspended = try #require(states.first { $0[0] as? String == "suspended" })
    #expect(suspended[2] as? Double == 65 && suspended[4] as? Double == 3_660)
    #expect(data.contains(#""\u003c/script>\u003cb>\\u{1B}""#))
  }

  @Test @MainActor func `timeline makes a trace that viewers of traces open`() async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    try await makeJournal("launch; wait:1m; home; wait:1h; open; kill", "launch", profile: .scenes)
    let trace = folder.appending(path: "trace.json")
    #expect(try Tool.run("timeline", "--output=\(trace.path)", path).status == 0)
    let text = try Tool.run("timeline", "--format", "json", "-o", "-", path).output
    #expect(try String(contentsOf: trace, encoding: .utf8) == text)
    let object = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    let events = try #require(object["traceEvents"] as? [[String: Any]])
    let bars = events.filter { $0["ph"] as? String == "X" }
    #expect(bars.allSatisfy { ($0["dur"] as? Double ?? -1) >= 0 && $0["ts"] is Double && $0["tid"] is Int })
    let suspended = bars.filter { $0["name"] as? String == "suspended" }
    #expect(suspended.compactMap { $0["dur"] as? Double } == [3_595_000_000])
    #expect(suspended.compactMap { $0["ts"] as? Double } == [65_000_000])
    #expect(Set(events.compactMap { $0["pid"] as? Int }) == [1, 2])
    let threads = events.filter { $0["name"] as? String == "thread_name" }.compactMap {
      ($0["args"] as? [String: String])?["name"]
    }
    #expect(Set(threads) == ["state", "calls and handlers", "system", "scene main"])
    // Handlers and tasks may overlap: each is a pair of events; a resource has a thread of its own.
    try await TripsJournal.write(to: path)
    let trips = try Tool.run("timeline", "--format", "json", "-o", "-", path).output
    for name in ["thumbnails", "save draft", "upload"] {
      for phase in ["b", "e"] {
        #expect(trips.contains("{\"name\":\"\(name)\",\"cat\":\"") && trips.contains("\"ph\":\"\(phase)\""))
      }
    }
    #expect(trips.contains("\"resource feed\"") && trips.contains("\"name\":\"feed: acquire\""))
    #expect((try JSONSerialization.jsonObject(with: Data(trips.utf8)) as? [String: Any]) != nil)
  }

  /// The runs that a page holds.
  private func runs(of html: String) throws -> [[String: Any]] {
    let data = html.components(separatedBy: "id=\"data\">").last?.components(separatedBy: "</script>").first
    return try #require(try JSONSerialization.jsonObject(with: Data((data ?? "").utf8)) as? [[String: Any]])
  }

  @Test @MainActor func `timeline begins in the middle of a run, with what lasts there`() async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    try await makeJournal("launch; wait:1m; scene:open:second; home; wait:45m; open", "launch", profile: .scenes)
    let times = ["--since", "2026-11-21T17:30", "--until", "2026-11-21T18:00:30"]
    let page = try Tool.run(
      ["timeline", path, "--format", "html", "-o", "-"] + times, environment: ["TZ": "UTC"])
    #expect(page.status == 0 && page.error == "" && !page.output.contains("id=\"omission\""))
    let runs = try runs(of: page.output)
    #expect(runs.map { $0["session"] as? Int } == [1, 2])
    let first = try #require((runs[0]["times"] as? [Double])?.first)
    #expect(first == 2_760 && (runs[0]["omitted"] as? Int ?? 0) > 20 && runs[1]["omitted"] as? Int == 0)
    let lanes = try #require(runs[0]["lanes"] as? [[String: Any]])
    #expect(lanes.map { $0["name"] as? String }.prefix(3) == ["state", "scene main", "scene second"])
    for lane in lanes {
      for item in try #require(lane["items"] as? [[Any]]) {
        #expect((item[2] as? Double ?? 0) >= first && (item[3] as? Int ?? -1) >= 0, "\(item)")
      }
    }
    // The second window was in the background all the while; the state has been committed anew since.
    let second = try #require((lanes[2]["items"] as? [[Any]])?.first)
    #expect(second[0] as? String == "background" && second[2] as? Double == first)
    let trace = try Tool.run(
      ["timeline", path, "--format", "json", "-o", "-"] + times, environment: ["TZ": "UTC"]
    ).output
    let object = try #require(try JSONSerialization.jsonObject(with: Data(trace.utf8)) as? [String: Any])
    let stamps = try #require(object["traceEvents"] as? [[String: Any]]).compactMap { $0["ts"] as? Double }
    #expect(stamps.min() == 2_760_000_000)
  }

  @Test @MainActor func `timeline does not write over the journal, and leaves no trace of a run that is not there`()
    async throws
  {
    defer { try? FileManager.default.removeItem(at: folder) }
    try await makeJournal("launch", "launch", size: 600)
    let content = try Data(contentsOf: URL(filePath: path))
    for file in [path, path + ".1"] {
      let result = try Tool.run("timeline", path, "--format", "json", "-o", file)
      #expect(result.status == 64 && result.error.contains("is the journal itself: -o would write over it"))
    }
    #expect(try Data(contentsOf: URL(filePath: path)) == content)
    let trace = folder.appending(path: "trace.json").path
    #expect(try Tool.run("timeline", "--session", "9", path, "-o", trace).status == 1)
    #expect(!FileManager.default.fileExists(atPath: trace))
  }

  // MARK: usage

  @Test(
    arguments: [
      (["log"], "'log' needs a journal"), (["log", "a", "b"], "'log' takes one file, not 'b', too"),
      (["log", "--since", "soon", "a"], "--since is '10m'"),
      (["log", "--since", "2026-02-30", "a"], "--since is '10m'"),
      (["timeline", "--until", "soon", "a"], "--until is '10m'"),
      (["log", "--json=yes", "a"], "this option takes no value: '=yes'"), (["log", "--session"], "--session needs"),
      (["log", "--color", "red", "a"], "--color is auto or always or never, not 'red'"),
      (["sessions", "--fast", "a"], "there is no option '--fast'"), (["names", "a"], "'names' takes no 'a'"),
      (["timeline", "a"], "'timeline' needs -o"),
      (["timeline", "a", "-o", "b"], "what 'b' is to be is said by its ending"),
      (["timeline", "a", "-o"], "-o needs a file"), (["completion"], "'completion' needs a shell: bash, zsh or fish"),
      (["completion", "csh"], "'completion' needs a shell"), (["help", "lag"], "no command 'lag'"),
      (["lag"], "there is no command 'lag'; did you mean 'log'?"), (["help", "time-line"], "did you mean 'timeline'?"),
      (
        ["log", "--sesion", "1", "a"],
        "there is no option '--sesion'; did you mean '--session'?\nTry 'lifecycle log --help'."
      ),
      (["sessions", "--hepl"], "did you mean '--help'?"), (["log", "--zzz", "a"], "there is no option '--zzz'\nTry"),
      (["play"], "there is 'simulate', 'log', 'sessions', 'timeline', 'names', 'completion'"),
    ] as [([String], String)])
  func `wrong usage is explained on standard error, status 64`(arguments: [String], message: String) throws {
    let result = try Tool.run(arguments)
    #expect(result.status == 64 && result.output == "")
    #expect(result.error.contains(message), "\(result.error)")
  }

  @Test(arguments: ["log", "sessions", "timeline"])
  func `a file that is not there, or cannot be read, is an error, status 74`(command: String) throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let output = command == "timeline" ? ["-o", folder.path + "/page.html"] : []
    let missing = try Tool.run([command, "/nonexistent/trips.jsonl"] + output)
    #expect(
      missing.status == 74
        && missing.error == "lifecycle: cannot open /nonexistent/trips.jsonl: No such file or directory\n")
    let directory = try Tool.run([command, folder.path] + output)
    #expect(directory.status == 74 && directory.error.hasPrefix("lifecycle: cannot read \(folder.path): "))
    let pipe = try Tool.run([command, "/dev/stdin"] + output, input: "{}\n")
    #expect(
      pipe.status == 74
        && pipe.error == "lifecycle: cannot read /dev/stdin: a journal is read from a file, not from a pipe\n")
    // A name is shown, not obeyed.
    let hostile = try Tool.run([command, "/nonexistent/\u{1B}[2J"] + output)
    #expect(hostile.error == "lifecycle: cannot open /nonexistent/\\u{1B}[2J: No such file or directory\n")
  }

  @Test(arguments: ["log", "sessions", "timeline", "names", "completion", "simulate"])
  func `help teaches each command, within 80 columns`(command: String) throws {
    let help = try Tool.run(command, "--help")
    #expect(help.status == 0 && help.error == "" && help.output.contains("lifecycle \(command)"))
    #expect(try Tool.run("help", command) == help)
    #expect(help.output.split(separator: "\n").allSatisfy { $0.count <= 80 })
    #expect(try Tool.run("help").output.contains("\n  \(command)"))
  }

  @Test(arguments: ["bash", "zsh", "fish"])
  func `each shell understands its completion`(shell: String) throws {
    let script = try Tool.run("completion", shell).output
    let follow = shell == "fish" ? "-l follow" : "--follow"
    for word in ["simulate", "sessions", "timeline", follow] { #expect(script.contains(word)) }
    let isThere = try Tool.shell("command -v \(shell)", input: "").status == 0
    guard isThere else { return print("skipped: there is no \(shell) here") }
    #expect(try Tool.shell("\(shell) -n /dev/stdin", input: script) == Tool.Result(status: 0, output: "", error: ""))
    guard shell == "bash" else { return }
    // The words of a command line, the last of which is to be completed, and what they become; files are the shell's own.
    let cases = [
      ("lifecycle log --color a", "auto always"), ("lifecycle se", "sessions"), ("lifecycle log --f", "--follow"),
      ("lifecycle log ''", ""), ("lifecycle timeline a -o ''", ""), ("lifecycle timeline -o a --se", "--session"),
      ("lifecycle timeline -o a --u", "--until"),
      ("lifecycle completion f", "fish"), ("lifecycle help lo", "log"),
      ("lifecycle simulate --profile ''", "app scene"),
    ]
    let asked = cases.reduce(script) { text, pair in
      text + "COMP_WORDS=(\(pair.0)); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _lifecycle; echo ${COMPREPLY[@]}\n"
    }
    #expect(try Tool.shell("bash /dev/stdin", input: asked).output == cases.map { $0.1 + "\n" }.joined())
  }
}
