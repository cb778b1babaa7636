import AppLifecycle
import Foundation
import LifecycleJournal
import TestFiles
import TestTraits
import Testing

@testable import lifecycle

/// A run that is counted from the end is found in a first reading, and printed in a second one.
@Suite(.timeLimit(.hang)) struct SessionChoiceTests: JournalToolSuite {
  let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  @Test(arguments: ["last", "-2"])
  @MainActor func `the same run is chosen if a rotation drops an older one between the two readings`(text: String)
    async throws
  {
    try await makeJournal("launch; kill", "launch; home; wait:1m; kill", "launch; crash", size: 1)
    let wanted = try Tool.run("log", "--json", "--session", text, path).output
    #expect(wanted.utf8.count > 500)
    let choice = try SessionChoice(text).resolved(in: path)
    // The program of the first run, as the first line of each of its files says, is process 100.
    for file in JournalFiles.all(of: path, files: SystemFiles()) {
      guard case .line(.run(let header)) = try JournalReader(path: file).next()?.content, header.processID == 100 else {
        break
      }
      try FileManager.default.removeItem(atPath: file)
    }
    let scan = JournalScan(seeking: choice)
    var found = ""
    try scan.read(path) { item in
      guard choice.matches(item), case .line(.record(let record)) = item.entry.content else { return }
      found += record.jsonLine + "\n"
    }
    try choice.check(in: path, of: scan)
    #expect(found == wanted)
  }
}
