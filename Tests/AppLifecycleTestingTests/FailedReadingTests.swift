import Foundation
import TestFiles
import TestTraits
import Testing

/// Commands print what they have read before a failure, and then the failure.
@Suite(.timeLimit(.hang)) struct FailedReadingTests: JournalToolSuite {
  let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  private var kept: String { path + ".1" }

  /// Makes a journal whose kept file is whole, and whose written file cannot be read; returns the reason.
  @MainActor private func makeJournal(isMissing: Bool) async throws -> String {
    try await makeJournal("launch; wait:1m; kill", "launch; home; wait:4s")
    try FileManager.default.moveItem(atPath: path, toPath: kept)
    if isMissing { return "lifecycle: cannot open \(path): No such file or directory\n" }
    // A directory can be opened for reading, and each read of it fails, as a read of a bad sector does.
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    return "lifecycle: cannot read \(path): Is a directory\n"
  }

  @Test(arguments: [false, true], [["log"], ["log", "--json"], ["log", "--follow"]])
  @MainActor func `log prints all lines before the failure`(isMissing: Bool, command: [String]) async throws {
    let reason = try await makeJournal(isMissing: isMissing)
    let whole = try Tool.run(command.filter { $0 != "--follow" } + [kept])
    #expect(whole.status == 0 && whole.output.utf8.count > 1_000)
    #expect(try Tool.run(command + [path]) == Tool.Result(status: 74, output: whole.output, error: reason))
  }

  @Test(arguments: [false, true])
  @MainActor func `sessions prints all runs before the failure, the last one without a reason`(isMissing: Bool)
    async throws
  {
    let reason = try await makeJournal(isMissing: isMissing)
    let whole = try Tool.run("sessions", kept)
    #expect(lines(whole.output).last?.hasSuffix("  the device restarted") == true)
    // Behind the failure the run may go on.
    let expected = whole.output.replacing("the device restarted", with: "unknown")
    #expect(try Tool.run("sessions", path) == Tool.Result(status: 74, output: expected, error: reason))
    try FileManager.default.removeItem(atPath: kept)
    #expect(try Tool.run("sessions", path) == Tool.Result(status: 74, output: "", error: reason))
  }

  #if os(Linux)
    @Test(arguments: ["log", "sessions", "timeline"])
    @MainActor func `a kept file that cannot be opened is named, and the rest is read`(command: String) async throws {
      try await makeJournal("launch; wait:1m; kill", "launch; home; wait:4s")
      try FileManager.default.moveItem(atPath: path, toPath: kept)
      try await makeJournal("launch; kill")
      let end = command == "timeline" ? "--format html -o -" : ""
      let whole = try Tool.run([command, path] + end.split(separator: " ").map(String.init))
      #expect(whole.status == 0)
      try FileManager.default.setAttributes([.posixPermissions: 0], ofItemAtPath: kept)
      // Without these capabilities, permissions count for root, too.
      let user = geteuid() == 0 ? "setpriv --bounding-set=-dac_override,-dac_read_search" : ""
      let result = try Tool.shell("exec \(user) \"$0\" \(command) '\(path)' \(end)", input: "")
      #expect(result.status == 1 && !result.output.isEmpty && result.output != whole.output)
      #expect(result.error == "lifecycle: \(kept):1: cannot be read: Permission denied, at byte 0\n")
    }
  #endif

  @Test(arguments: [false, true])
  @MainActor func `timeline draws all runs before the failure`(isMissing: Bool) async throws {
    let reason = try await makeJournal(isMissing: isMissing)
    for form in ["html", "json"] {
      let whole = try Tool.run("timeline", "--format", form, kept, "-o", "-")
      let part = try Tool.run("timeline", "--format", form, path, "-o", "-")
      #expect(part.status == 74 && part.error == reason)
      if form == "html" {
        let times = try [part, whole].map { try runs(of: $0.output).map { $0["times"] as? [Double] } }
        #expect(times[0] == times[1] && times[0].count == 2)
      } else {
        #expect(part.output == whole.output)
      }
    }
    // Without a run there is nothing to draw, and the former picture stays.
    try FileManager.default.removeItem(atPath: kept)
    let page = folder.appending(path: "page.html")
    try Data("former".utf8).write(to: page)
    let nothing = Tool.Result(status: 74, output: "", error: reason)
    #expect(try Tool.run("timeline", path, "-o", page.path) == nothing)
    #expect(try String(contentsOf: page, encoding: .utf8) == "former")
  }
}
