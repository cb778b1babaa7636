import Foundation
import Testing

/// The tables of *Coming from UIKit* list what compiles, and all of it.
@Suite struct `The tables of UIKit's names` {
  /// The lines of the file that compiles each name: what stands between the parentheses of `use(…)`.
  private static func compiled() throws -> [String] {
    try Documentation.text(of: "Tests/NotificationCenterBridgeTests/UIKit/UIKitTable.swift").split(separator: "\n")
      .map { $0.trimmingCharacters(in: .whitespaces) }
      .filter { $0.hasPrefix("use(") && $0.hasSuffix(")") }
      .map { String($0.dropFirst(4).dropLast()) }
  }

  /// The code of the first cell of each row under the headings about UIKit's names.
  private static func listed() throws -> [String] {
    let page = try Documentation.text(of: "Sources/AppLifecycle/AppLifecycle.docc/ComingFromUIKit.md")
    let parts = page.components(separatedBy: "\n## ").filter { $0.hasPrefix("UIKit's names") }
    #expect(parts.count == 2)
    return parts.flatMap { $0.split(separator: "\n") }.filter { $0.hasPrefix("| `") }.flatMap { row in
      let cell = row.dropFirst(2).prefix { $0 != "|" }
      return cell.split(separator: "`", omittingEmptySubsequences: false).enumerated()
        .filter { $0.offset % 2 == 1 }.map { String($0.element) }
    }
  }

  @Test func `list only names that compile`() throws {
    let (compiled, listed) = (try Self.compiled(), try Self.listed())
    #expect(compiled.count > 60 && listed.count > 60)
    for name in listed { #expect(compiled.contains { $0 == name || $0.hasSuffix(".\(name)") }, "\(name)") }
  }

  @Test func `list each name that compiles`() throws {
    let listed = try Self.listed()
    for name in try Self.compiled() {
      #expect(listed.contains { name == $0 || name.hasSuffix(".\($0)") }, "\(name)")
    }
  }
}
