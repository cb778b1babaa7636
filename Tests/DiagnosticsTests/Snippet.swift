import Foundation
import Testing

/// What the compiler says about one line.
struct Diagnostic: Hashable, Comparable, CustomStringConvertible {
  var line: Int
  /// `error: …` or `warning: …`, without the group in brackets that follows some messages.
  var text: String

  var description: String { "line \(line): \(text)" }

  static func < (one: Diagnostic, other: Diagnostic) -> Bool { (one.line, one.text) < (other.line, other.text) }
}

/// A file with a mistake, what the compiler is to say about it, and the cure.
///
/// The cure is what is compiled with `CURED` defined. A comment `// expect error: …` or `// expect warning: …` is about the next
/// line that is no such comment; `…` in it stands for any text. A file without such a comment is about mistakes of which the
/// compiler says nothing.
struct Snippet: Sendable, CustomTestStringConvertible {
  let name: String
  let text: String

  var testDescription: String { name }

  /// The language mode: that of Swift 6, unless the file names that of Swift 5 in a comment.
  var languageMode: String { text.contains("// language mode 5") ? "5" : "6" }

  /// What the compiler is to say, line by line.
  var expected: [Diagnostic] {
    var expected: [Diagnostic] = []
    var waiting: [String] = []
    for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      let code = line.trimmingCharacters(in: .whitespaces)
      if code.hasPrefix("// expect ") {
        waiting.append(String(code.dropFirst("// expect ".count)))
      } else {
        expected += waiting.map { Diagnostic(line: index + 1, text: $0) }
        waiting = []
      }
    }
    return expected
  }

  /// What was expected and not said, and what was said and not expected.
  func differences(from said: [Diagnostic]) -> [String] {
    var left = said
    var differences: [String] = []
    for diagnostic in expected {
      let index = left.firstIndex { $0.line == diagnostic.line && matches($0.text, diagnostic.text) }
      if let index { left.remove(at: index) } else { differences.append("not said: \(diagnostic)") }
    }
    return differences + left.sorted().map { "not expected: \($0)" }
  }
}

/// Whether a text is a pattern, in which each `…` stands for any text.
func matches(_ text: String, _ pattern: String) -> Bool {
  let parts = pattern.split(separator: "…", omittingEmptySubsequences: false)
  guard parts.count > 1 else { return text == pattern }
  guard text.hasPrefix(parts[0]), text.hasSuffix(parts[parts.count - 1]) else { return false }
  var rest = text.dropFirst(parts[0].count)
  for part in parts.dropFirst().dropLast() where !part.isEmpty {
    guard let range = rest.firstRange(of: part) else { return false }
    rest = rest[range.upperBound...]
  }
  return rest.count >= parts[parts.count - 1].count
}

extension Snippet {
  private static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Snippets")

  /// The files, in order of name.
  static let all: [Snippet] = {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path())) ?? []
    return names.filter { $0.hasSuffix(".swift") }.sorted().compactMap { name in
      let text = try? String(contentsOf: folder.appending(path: name), encoding: .utf8)
      return text.map { Snippet(name: name, text: $0) }
    }
  }()

  /// Where the file is.
  var path: String { Self.folder.appending(path: name).path() }
}
