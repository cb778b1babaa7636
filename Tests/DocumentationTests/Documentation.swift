import Foundation

/// The pages that users read, and what stands in them.
enum Documentation {
  static let root = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// The pages, by their paths from the root.
  static var pages: [String] {
    get throws {
      let docs = try FileManager.default.contentsOfDirectory(atPath: root.appending(path: "Docs").path())
      return ["README.md"] + docs.filter { $0.hasSuffix(".md") }.sorted().map { "Docs/\($0)" }
    }
  }

  static func text(of page: String) throws -> String {
    try String(contentsOf: root.appending(path: page), encoding: .utf8)
  }

  /// The lines of each fenced block of a language, as they stand.
  static func blocks(in text: String, language: String) -> [[String]] {
    var blocks: [[String]] = []
    var current: [String]?
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      if line.hasPrefix("```") {
        if let block = current { blocks.append(block) }
        current = current == nil && line == "```\(language)" ? [] : nil
      } else if current != nil {
        current!.append(String(line))
      }
    }
    return blocks
  }
}
