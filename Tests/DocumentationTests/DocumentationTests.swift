import Foundation
import Testing

/// Samples rot: each one in the documentation must stand, word for word, in a file that is compiled and run.
@Suite struct `The documentation` {
  @Test(arguments: try Documentation.pages)
  func `has no Swift sample that is not compiled and run`(page: String) throws {
    let text = try Documentation.text(of: page)
    let compiled = try Self.compiledSources()
    for block in Documentation.blocks(in: text, language: "swift") {
      let sample = block.flatMap { Self.significant($0[...]) }
      let isCompiled = compiled.contains { $0.firstRange(of: sample) != nil }
      #expect(isCompiled, "\(page): no test compiles\n\(sample.joined(separator: "\n"))")
    }
  }

  @Test func `has no sample in a comment of the bus that is not compiled and run`() throws {
    let compiled = try Self.compiledSources()
    let samples = try Documentation.samplesInComments(of: "PubSub")
    #expect(samples.count >= 3)
    for (file, block) in samples {
      let sample = block.flatMap { Self.significant($0[...]) }
      let isCompiled = compiled.contains { $0.firstRange(of: sample) != nil }
      #expect(isCompiled, "\(file): no test compiles\n\(sample.joined(separator: "\n"))")
    }
  }

  /// A listing wider than the column of a rendered page scrolls sideways; at a window of 1,440 points it has 88 characters.
  @Test(arguments: try Documentation.pages.filter { $0.hasPrefix("Sources/") })
  func `has no Swift sample that is wider than a page`(page: String) throws {
    for line in try Documentation.blocks(in: Documentation.text(of: page), language: "swift").joined() {
      #expect(line.count <= 88, "\(page): \(line.count) characters: \(line)")
    }
  }

  @Test func `shows the two commands of a fresh machine`() throws {
    let text = try Documentation.text(of: "README.md")
    let commands = Documentation.blocks(in: text, language: "sh").joined().map { $0.prefix { $0 != "#" } }
    #expect(commands.contains { $0.hasPrefix("swift run PregTracker") })
    #expect(commands.contains("swift test"))
  }

  private static func compiledSources() throws -> [[String]] {
    try ["Tests/DocumentationTests", "Tests/NotificationCenterBridgeTests", "Examples"].flatMap { folder in
      let files = FileManager.default.enumerator(atPath: Documentation.root.appending(path: folder).path())
      return try (files?.compactMap { $0 as? String } ?? []).filter { $0.hasSuffix(".swift") }.map { file in
        try String(contentsOf: Documentation.root.appending(path: folder).appending(path: file), encoding: .utf8)
          .split(separator: "\n").flatMap { significant($0) }
      }
    }
  }

  private static func significant(_ line: Substring) -> [String] {
    let trimmed = line.trimmingCharacters(in: .whitespaces)
    return trimmed.isEmpty ? [] : [trimmed]
  }
}
