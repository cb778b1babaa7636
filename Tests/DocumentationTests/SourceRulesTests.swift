import Foundation
import Testing

/// What the simulation's promise rests on and no type can enforce.
@Suite struct `The sources` {
  private static let root = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  @Test(arguments: ["Scheduling", "PubSub", "AppLifecycle"])
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

  @Test(arguments: ["Sources", "Examples", "Tests", "Docs"])
  func `have methods of delegates where the compiler warns of a misspelt one`(folder: String) throws {
    let folder = Self.root.appending(path: folder)
    let files = (FileManager.default.enumerator(atPath: folder.path())?.compactMap { $0 as? String } ?? [])
      .filter { $0.hasSuffix(".swift") || $0.hasSuffix(".md") }
      // Mistakes about which the compiler is asked, and the sample below.
      .filter { !$0.contains("DiagnosticsTests/Snippets/") && !$0.hasSuffix("SourceRulesTests.swift") }
    #expect(!files.isEmpty)
    for file in files {
      let text = try String(contentsOf: folder.appending(path: file), encoding: .utf8)
      for line in Self.delegateMethodsInClassBodies(of: text) { Issue.record("\(file):\(line): not in an extension") }
    }
  }

  @Test func `have none in the body of a class, as far as a line shows it`() {
    let text = """
      final class One: ApplicationDelegate {
        func other() {}
        func applicationDidBecomActive(_ application: Application) {}
      }
      extension One {
        func sceneDidActivate(_ scene: Application.Scene) {}
      }
      final class Two: ApplicationDelegate {}
      extension Two: ApplicationDelegate {
        func applicationDidBecomeActive(_ application: Application) {}
      }
      """
    #expect(Self.delegateMethodsInClassBodies(of: text) == [3])
  }

  /// The lines on which a class that conforms to a delegate's protocol has what looks like a method of the protocol.
  private static func delegateMethodsInClassBodies(of text: String) -> [Int] {
    var lines: [Int] = []
    var end: String?
    for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      let code = line.trimmingCharacters(in: .whitespaces)
      if let present = end {
        if line == present { end = nil }
        if code.hasPrefix("func application") || code.hasPrefix("func scene") { lines.append(index + 1) }
      } else if code.contains("class "), code.hasSuffix("Delegate {"), code.contains(": ") {
        end = line.prefix { $0 == " " } + "}"
      }
    }
    return lines
  }
}
