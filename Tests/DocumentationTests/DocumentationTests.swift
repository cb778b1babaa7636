import Foundation
import Testing

/// Samples rot: each one in the documentation must stand, word for word, in a file that is compiled and run.
@Suite struct `The documentation` {
  private static let root = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  static var pages: [String] {
    get throws {
      let docs = try FileManager.default.contentsOfDirectory(atPath: root.appending(path: "Docs").path())
      return ["README.md"] + docs.filter { $0.hasSuffix(".md") }.sorted().map { "Docs/\($0)" }
    }
  }

  @Test(arguments: try pages)
  func `has no Swift sample that is not compiled and run`(page: String) throws {
    let text = try String(contentsOf: Self.root.appending(path: page), encoding: .utf8)
    let compiled = try Self.compiledSources()
    for sample in Self.blocks(in: text, language: "swift") {
      let isCompiled = compiled.contains { $0.firstRange(of: sample) != nil }
      #expect(isCompiled, "\(page): no test compiles\n\(sample.joined(separator: "\n"))")
    }
  }

  @Test func `shows the two commands of a fresh machine`() throws {
    let text = try String(contentsOf: Self.root.appending(path: "README.md"), encoding: .utf8)
    let commands = Self.blocks(in: text, language: "sh").joined().map { $0.prefix { $0 != "#" } }
    #expect(commands.contains { $0.hasPrefix("swift run PregTracker") })
    #expect(commands.contains("swift test"))
  }

  /// The lines of each fenced block of a language, without their indentation.
  private static func blocks(in text: String, language: String) -> [[String]] {
    var blocks: [[String]] = []
    var current: [String]?
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      if line.hasPrefix("```") {
        if let block = current { blocks.append(block) }
        current = current == nil && line == "```\(language)" ? [] : nil
      } else if current != nil {
        current!.append(contentsOf: significant(line))
      }
    }
    return blocks
  }

  private static func compiledSources() throws -> [[String]] {
    try ["Tests/DocumentationTests", "Examples"].flatMap { folder in
      let files = FileManager.default.enumerator(atPath: root.appending(path: folder).path())
      return try (files?.compactMap { $0 as? String } ?? []).filter { $0.hasSuffix(".swift") }.map { file in
        try String(contentsOf: root.appending(path: folder).appending(path: file), encoding: .utf8)
          .split(separator: "\n").flatMap { significant($0) }
      }
    }
  }

  private static func significant(_ line: Substring) -> [String] {
    let trimmed = line.trimmingCharacters(in: .whitespaces)
    return trimmed.isEmpty ? [] : [trimmed]
  }
}
