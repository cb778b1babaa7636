import Foundation

/// The pages that users read, and what stands in them.
enum Documentation {
  static let root = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// The pages, by their paths from the root: the README, the specifications, and the articles of the libraries.
  static var pages: [String] {
    get throws { try ["README.md"] + pages(in: "Docs") + catalogs.flatMap { try pages(in: $0) } }
  }

  /// The folders of the libraries' articles.
  private static var catalogs: [String] {
    get throws {
      try FileManager.default.contentsOfDirectory(atPath: root.appending(path: "Sources").path()).sorted()
        .map { "Sources/\($0)/\($0).docc" }
        .filter { FileManager.default.fileExists(atPath: root.appending(path: $0).path()) }
    }
  }

  private static func pages(in folder: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: root.appending(path: folder).path())
      .filter { $0.hasSuffix(".md") }.sorted().map { "\(folder)/\($0)" }
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

  /// The code blocks in the doc comments of a library: lines that are indented by four after an empty line.
  static func samplesInComments(of library: String) throws -> [(file: String, lines: [String])] {
    let folder = root.appending(path: "Sources/\(library)")
    let files = (FileManager.default.enumerator(atPath: folder.path())?.compactMap { $0 as? String } ?? []).sorted()
    return try files.filter { $0.hasSuffix(".swift") }.flatMap { file in
      let text = try String(contentsOf: folder.appending(path: file), encoding: .utf8)
      return samplesInComments(text).map { (file, $0) }
    }
  }

  private static func samplesInComments(_ text: String) -> [[String]] {
    var blocks: [[String]] = []
    var isInBlock = false
    var isAfterEmptyLine = false
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      let comment = line.drop { $0 == " " }
      if comment.hasPrefix("///     "), isInBlock || isAfterEmptyLine {
        if !isInBlock { blocks.append([]) }
        isInBlock = true
        blocks[blocks.count - 1].append(String(comment.dropFirst(8)))
      } else {
        isInBlock = isInBlock && comment == "///"
        isAfterEmptyLine = comment == "///"
      }
    }
    return blocks
  }
}
