import Foundation

/// A directory of one test's own, which is removed with the value's last reference.
package final class TemporaryDirectory: Sendable {
  package let path: String

  package init() throws {
    let url = FileManager.default.temporaryDirectory.appending(path: "test-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    path = url.path
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// The path of a file in it.
  package func file(_ name: String = "journal.jsonl") -> String { path + "/" + name }

  /// Its files, in order of their names.
  package var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted() }
}

/// The content of a file; empty where there is none.
package func bytes(of path: String) -> [UInt8] { FileManager.default.contents(atPath: path).map(Array.init) ?? [] }

/// The content of a file as text; empty where there is none.
package func text(of path: String) -> String { String(decoding: bytes(of: path), as: UTF8.self) }

/// Makes a file.
package func write(_ text: String, to path: String) throws { try Data(text.utf8).write(to: URL(filePath: path)) }
