import Foundation
import JournalWorkload
import LifecycleJournal
import TestFiles
import TestTraits
import Testing

/// Whatever numbers a journal holds, each command of the tool reads it to its end.
@Suite(.timeLimit(.hang)) struct ExtremeNumberToolTests: JournalToolSuite {
  let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  /// All journals in one file, each a run of it: a process for each would take minutes.
  @Test(
    .longRunning,
    arguments: [
      ["log"], ["log", "--json"], ["log", "--since", "10m"], ["sessions"], ["sessions", "--json"],
      ["timeline", "--format", "html", "-o", "-"], ["timeline", "--format", "json", "-o", "-"],
    ])
  func `no number makes a command trap or hang`(command: [String]) throws {
    let last = RunHeader(run: "last", program: "last", processID: 1, bootID: nil, start: .zero, wallTime: .zero)
    try Data((ExtremeJournals.all.joined() + last.jsonLine + "\n").utf8).write(to: URL(filePath: path))
    // The status says that lines are damaged; a signal is none of the two.
    let result = try Tool.run(command + [path])
    #expect([0, 1].contains(result.status), "\(result.status) \(result.error.suffix(300))")
    let isComplete =
      switch command[0] {
      case "log": command.count > 1 || result.output.contains("  last, process 1, ")
      case "sessions": lines(result.output).count > 700 && lines(result.output).last?.contains("unknown") == true
      default: result.output.hasSuffix("</html>\n") || result.output.hasSuffix("\n]}\n")
      }
    #expect(isComplete)
    if command.contains("html") {
      #expect(try runs(of: result.output).count > 100)
    } else if command.contains("-o") {
      _ = try JSONSerialization.jsonObject(with: Data(result.output.utf8))
    }
  }

  @Test func `a journal of its own has a picture of its own, and can be replayed`() throws {
    let all = ExtremeJournals.all
    for index in stride(from: 0, to: all.count, by: all.count / 12) {
      try Data(all[index].utf8).write(to: URL(filePath: path))
      let page = folder.appending(path: "page.html").path
      #expect([0, 1].contains(try Tool.run("timeline", path, "-o", page).status), "journal \(index)")
      let records = try Tool.run("log", "--json", path).output
      #expect([0, 2].contains(try Tool.run(["simulate", "--replay", "-"], input: records).status), "journal \(index)")
    }
  }

  @Test func `a line with a number out of range is named with its place`() throws {
    try Data((ExtremeJournals.all[0] + "{\"journal\":\"alive\",\"t\":1e300}\n").utf8).write(to: URL(filePath: path))
    let error = try Tool.run("sessions", path).error
    let end = "trips.jsonl:18: the number of \"t\" is out of range, in column 24, at byte "
    #expect(error.contains(end), "\(error)")
  }
}
