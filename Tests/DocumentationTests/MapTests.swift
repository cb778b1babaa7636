import Foundation
import Testing

/// The maps of the house: of its modules, and of the files in which changes begin.
@Suite struct `The maps` {
  /// The modules that the map shows: the products' and what they draw on, without the C shims.
  private static func dependencies() throws -> [String: Set<String>] {
    // A dependency with a condition is one like the others.
    let manifest = try Documentation.text(of: "Package.swift").replacing(
      /\.target\(\s*name: ("\w+"), condition: \.when\([^)]*\)\)/
    ) { "\($0.1)" }
    let library = try #require(manifest.components(separatedBy: "// The examples use products only").first)
    var found: [String: Set<String>] = [:]
    for part in library.components(separatedBy: "arget(").dropFirst() {
      let names = part.components(separatedBy: "\"").enumerated().filter { $0.offset % 2 == 1 }.map(\.element)
      guard let name = names.first, !name.isShim, part.contains("name: ") else { continue }
      found[name, default: []].formUnion(names.dropFirst().filter { !$0.isShim && $0.first?.isLetter == true })
    }
    let modules = Set(found.keys)
    return found.mapValues { $0.intersection(modules) }
  }

  @Test func `the map of modules is that of Package.swift`() throws {
    let all = try Self.dependencies()
    func reach(_ module: String) -> Set<String> {
      all[module, default: []].reduce(into: all[module, default: []]) { $0.formUnion(reach($1)) }
    }
    var arrows: Set<String> = []
    for (module, direct) in all {
      let implied = direct.reduce(into: Set<String>()) { $0.formUnion(reach($1)) }
      for dependency in direct.subtracting(implied) { arrows.insert("\(module) --> \(dependency)") }
    }
    #expect(arrows.count > 9)
    let blocks = Documentation.blocks(in: try Documentation.text(of: "Docs/Architecture.md"), language: "mermaid")
    let drawn = try #require(blocks.first).dropFirst().map { $0.trimmingCharacters(in: .whitespaces) }
    #expect(Set(drawn) == arrows)
  }

  @Test func `each file in which a change begins is there`() throws {
    let page = try Documentation.text(of: "Docs/WhereToChange.md")
    let paths = page.components(separatedBy: "](../").dropFirst().map { $0.prefix { $0 != ")" } }
    #expect(paths.count >= 20)
    for path in paths {
      #expect(
        FileManager.default.fileExists(atPath: Documentation.root.appending(path: String(path)).path()), "\(path)")
    }
  }

  /// A link that leads nowhere: pages move, and links stay behind.
  @Test(arguments: try Documentation.pages) func `each link to a file leads to one`(page: String) throws {
    let folder = Documentation.root.appending(path: page).deletingLastPathComponent()
    for part in try Documentation.text(of: page).components(separatedBy: "](").dropFirst() {
      let target = part.prefix { !")#".contains($0) }
      guard !target.isEmpty, !target.contains("://"), target.contains("/") || target.hasSuffix(".md") else { continue }
      #expect(
        FileManager.default.fileExists(atPath: folder.appending(path: String(target)).path()), "\(page): \(target)")
    }
  }
}

extension String {
  fileprivate var isShim: Bool { count > 1 && first == "C" && dropFirst().first!.isUppercase }
}
