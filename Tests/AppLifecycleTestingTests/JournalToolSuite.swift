import AppLifecycle
import AppLifecycleTesting
import Foundation
import LifecycleJournal
import TestFiles
import Testing

/// A suite of tests of what the tool makes of a journal; each test has a folder of its own.
protocol JournalToolSuite {
  /// Where the journal lies, and whatever the tool writes.
  var directory: TemporaryDirectory { get }
}

extension JournalToolSuite {
  /// The address of the directory.
  var folder: URL { URL(filePath: directory.path) }

  /// The journal.
  var path: String { directory.file("trips.jsonl") }

  /// Makes a journal of a run for each script; the wall clock begins at 2026-11-21 17:00 UTC, an hour later for each.
  @MainActor func makeJournal(_ scripts: String..., profile: LifecycleProfile = .application, size: Int? = nil)
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

  func add(_ text: String) throws {
    let file = try FileHandle(forWritingTo: URL(filePath: path))
    try file.seekToEnd()
    try file.write(contentsOf: Data(text.utf8))
    try file.close()
  }

  func lines(_ text: String) -> [String] { text.split(separator: "\n").map(String.init) }

  /// The runs that a page holds.
  func runs(of html: String) throws -> [[String: Any]] {
    let data = html.components(separatedBy: "id=\"data\">").last?.components(separatedBy: "</script>").first
    return try #require(try JSONSerialization.jsonObject(with: Data((data ?? "").utf8)) as? [[String: Any]])
  }
}
