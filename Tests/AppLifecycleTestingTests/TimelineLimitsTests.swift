import AppLifecycle
import Foundation
import TestTraits
import Testing

/// What a picture has no room for, it says.
@Suite(.timeLimit(.hang)) struct TimelineLimitsTests {
  /// What the tool makes of records, in both forms.
  private func pictures(of records: [LifecycleRecord]) throws -> (page: Tool.Result, trace: Tool.Result) {
    let folder = FileManager.default.temporaryDirectory.appending(path: "limits-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = folder.appending(path: "trips.jsonl")
    try Data(records.map { $0.jsonLine + "\n" }.joined().utf8).write(to: path)
    return (
      try Tool.run("timeline", path.path, "--format", "html", "-o", "-"),
      try Tool.run("timeline", path.path, "--format", "json", "-o", "-")
    )
  }

  private func connecting(_ scene: String) -> LifecycleRecord {
    LifecycleRecord(
      instant: .zero, kind: .notification, name: SceneCallback.willConnect.notificationName, state: .background,
      scene: scene, cause: "launch")
  }

  @Test func `a thousand windows at one time have a lane, and what has none is counted`() throws {
    let (page, trace) = try pictures(of: (0..<1_003).map { connecting("window \($0)") })
    let complaint =
      "lifecycle: 3 bars of scenes or resources are left out: at most 1000 have a lane at one time\n"
    #expect(page.error == complaint && trace.error == complaint && page.status == 0)
    #expect(page.output.contains("<p id=\"omission\" role=\"note\">3 bars of scenes or resources are left out"))
    #expect(page.output.contains("\"scene window 999\"") && !page.output.contains("\"scene window 1000\""))
    #expect(trace.output.contains("\"scene window 999\"") && !trace.output.contains("\"scene window 1000\""))
    // One that goes makes room for another.
    var gone = connecting("window 1")
    gone.name = SceneCallback.didDisconnect.notificationName
    let next = try pictures(of: (0..<1_000).map { connecting("window \($0)") } + [gone, connecting("window 1000")])
    #expect(next.page.error == "" && next.page.output.contains("\"scene window 1000\""))
  }

  @Test func `a text as long as a line may be is cut, and ends in dots`() throws {
    let (page, trace) = try pictures(of: [connecting(String(repeating: "é", count: 100_000))])
    let cut = String(repeating: "é", count: 500) + "…"
    #expect(page.output.contains("\"scene \(cut)\"") && trace.output.contains("\"scene \(cut)\""))
    #expect(trace.output.utf8.count < 10_000)
  }

  @Test func `the latest lines are kept, to the line, and those before them counted`() throws {
    let records = (0..<20_001).map { number in
      LifecycleRecord(
        instant: .seconds(number), kind: .report, name: "r\(number)", state: .active, cause: "test")
    }
    let all = try pictures(of: Array(records.dropLast())).page
    #expect(all.error == "" && all.output.contains("\"r0\"") && all.output.contains("\"omitted\":0,"))
    let (page, trace) = try pictures(of: records)
    #expect(page.error.contains("the 1 before them are left out; --session"))
    #expect(!page.output.contains("\"r0\"") && page.output.contains("\"r1\"") && page.output.contains("\"r20000\""))
    // The state lasts since before the first line that is left.
    #expect(page.output.contains("[\"active\",\"active\",1.0,0,20000.0,19999,"))
    #expect(trace.error == "" && trace.output.contains("\"r0\"") && trace.output.contains("\"r20000\""))
  }

  @Test func `a bar that began before the first line on the page begins with it, at any number of lines`() throws {
    let records = (0..<25_001).map { number in
      LifecycleRecord(
        instant: .seconds(number), kind: .report, name: "r\(number)", state: .active, cause: "test")
    }
    let page = try pictures(of: records).page
    #expect(page.output.contains("[\"active\",\"active\",5001.0,0,25000.0,19999,"))
  }

  @Test func `what is said of it does not stand in the page where standard error is closed`() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "limits-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let windows = (0..<1_003).map { connecting("window \($0)").jsonLine + "\n" }
    try Data(windows.joined().utf8).write(to: folder.appending(path: "trips.jsonl"))
    let result = try Tool.shell(
      "cd '\(folder.path)' && exec \"$0\" timeline trips.jsonl -o page.html 2>&-", input: "")
    #expect(result.status == 0)
    #expect(try String(contentsOf: folder.appending(path: "page.html"), encoding: .utf8).hasSuffix("</html>\n"))
  }
}
