import Foundation
import Testing

/// What the simulation's promise rests on and no type can enforce.
@Suite struct `The sources` {
  private static let root = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  @Test(arguments: ["PubSub", "AppLifecycle"])
  func `make tasks in one place only, so that a simulation can have them all`(module: String) throws {
    let folder = Self.root.appending(path: "Sources/\(module)")
    let files = (FileManager.default.enumerator(atPath: folder.path())?.compactMap { $0 as? String } ?? [])
      .filter { $0.hasSuffix(".swift") }
    #expect(files.count > 10)
    for file in files where !file.hasSuffix("TaskStarter.swift") {
      let text = try String(contentsOf: folder.appending(path: file), encoding: .utf8)
      for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
        let code = line.trimmingCharacters(in: .whitespaces)
        guard !code.hasPrefix("//") else { continue }
        let makesTask = ["Task {", "Task(", "Task.detached", "Task.immediate"].contains { form in
          guard let range = code.firstRange(of: form) else { return false }
          // The word alone: `startTask(` and `UnsafeCurrentTask {` make none.
          return range.lowerBound == code.startIndex || !code[code.index(before: range.lowerBound)].isLetter
        }
        #expect(!makesTask, "\(module)/\(file):\(index + 1): \(code)")
      }
    }
  }
}
