import AppLifecycle
import AppLifecycleTesting
import Foundation
import LifecycleJournal
import PubSub
import TestFiles
import TestTraits
import Testing

/// What `lifecycle timeline` makes of a journal.
@Suite(.timeLimit(.hang)) struct TimelineToolTests: JournalToolSuite {
  let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  @Test @MainActor func `timeline makes one page that stands alone`() async throws {
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
    #expect(Set(threads) == ["state", "delegate and notifications", "system", "scene main"])
    // Handlers and tasks may overlap: each is a pair of events; a resource has a thread of its own.
    try await TripsJournal.write(to: path)
    let trips = try Tool.run("timeline", "--format", "json", "-o", "-", path).output
    for name in ["thumbnails", "save draft", "upload"] {
      for phase in ["b", "e"] {
        #expect(trips.contains("{\"name\":\"\(name)\",\"cat\":\"") && trips.contains("\"ph\":\"\(phase)\""))
      }
    }
    #expect(trips.contains("{\"name\":\"feed\"}") && trips.contains("\"name\":\"feed: acquire\""))
    #expect((try JSONSerialization.jsonObject(with: Data(trips.utf8)) as? [String: Any]) != nil)
  }

  @Test @MainActor func `timeline begins in the middle of a run, with what lasts there`() async throws {
    try await makeJournal("launch; wait:1m; scene:open:second; home; wait:45m; open", "launch", profile: .scenes)
    let times = ["--since", "2026-11-21T17:30", "--until", "2026-11-21T18:00:30"]
    let page = try Tool.run(
      ["timeline", path, "--format", "html", "-o", "-"] + times, environment: ["TZ": "UTC"])
    #expect(page.status == 0 && page.error == "" && !page.output.contains("id=\"omission\""))
    let runs = try runs(of: page.output)
    #expect(runs.map { $0["session"] as? Int } == [1, 2])
    let first = try #require((runs[0]["times"] as? [Double])?.first)
    #expect(first == 2_760 && (runs[0]["omitted"] as? Int ?? 0) > 20 && runs[1]["omitted"] as? Int == 0)
    // The wall-clock time of a run's lines stands in a line before them.
    #expect(runs.map { ($0["clocks"] as? [[Double]])?.first } == [[0, 1_795_280_400], [0, 1_795_284_000]])
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
}
