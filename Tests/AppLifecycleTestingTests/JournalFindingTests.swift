import Foundation
import TestFiles
import TestTraits
import Testing

/// The files with which the fuzzer begins, and those that it has found, read by each command of the tool.
@Suite(.timeLimit(.hang)) struct JournalFindingTests: JournalToolSuite {
  let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  private static let commands = [
    ["log"], ["log", "--json"], ["sessions"], ["sessions", "--json"], ["timeline", "--format", "html", "-o", "-"],
  ]
  private static let fuzz = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "Fuzz")

  @Test(.longRunning) func `no file makes a command trap or hang`() throws {
    for kind in ["Corpus/journal", "Findings/journal"] {
      for file in try FileManager.default.contentsOfDirectory(
        at: Self.fuzz.appending(path: kind), includingPropertiesForKeys: nil)
      {
        // The first two bytes are choices of the fuzzer's target.
        try Data(contentsOf: file).dropFirst(2).write(to: URL(filePath: path))
        for command in Self.commands {
          let result = try Tool.run(command + [path])
          #expect([0, 1].contains(result.status), "\(command), \(file.lastPathComponent): \(result.error.suffix(300))")
        }
      }
    }
  }
}
