import Foundation
import TestTraits
import Testing

/// What a page says that the tool prints, it prints: each `console` block is run, line by line, and compared.
@Suite(.timeLimit(.hang)) struct `The console in the documentation` {
  struct Session: Sendable, CustomTestStringConvertible {
    let page: String
    let command: String
    let output: String

    var testDescription: String { "\(page): \(command)" }
  }

  static var sessions: [Session] {
    get throws { try Documentation.pages.flatMap { try sessions(of: $0) } }
  }

  private static func sessions(of page: String) throws -> [Session] {
    var sessions: [Session] = []
    for block in Documentation.blocks(in: try Documentation.text(of: page), language: "console") {
      for part in block.joined(separator: "\n").split(separator: "$ lifecycle ") {
        let lines = part.split(separator: "\n", omittingEmptySubsequences: false)
        let output = lines.dropFirst().map { $0 + "\n" }.joined()
        sessions.append(Session(page: page, command: String(lines[0]), output: output.trimmedAtEnd))
      }
    }
    return sessions
  }

  @Test(arguments: try sessions)
  func `is what the tool prints`(session: Session) throws {
    #expect(try Self.print(session.command).trimmedAtEnd == session.output)
  }

  @Test(arguments: [("states", "app"), ("scenes", "scene")])
  func `has the pictures that the tool draws`(picture: String, profile: String) throws {
    let drawn = try Self.print("states --profile \(profile) --format svg")
    #expect(try Documentation.text(of: "Sources/AppLifecycle/AppLifecycle.docc/Resources/\(picture).svg") == drawn)
  }

  /// What the tool prints, which has to end with status 0.
  private static func print(_ command: String) throws -> String {
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(filePath: "/bin/sh")
    process.arguments = ["-c", "exec \"$0\" \(command)", tool.path]
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = output
    try process.run()
    let printed = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    return String(decoding: printed, as: UTF8.self)
  }

  @Test func `is there at all`() throws {
    #expect(try Self.sessions.count >= 8)
  }

  private static let tool = URL(ofProduct: "lifecycle")
}

extension String {
  fileprivate var trimmedAtEnd: String {
    String(reversed().drop { $0.isNewline }.reversed())
  }
}
