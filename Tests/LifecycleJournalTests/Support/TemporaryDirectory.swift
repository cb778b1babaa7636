import Foundation
import LifecycleJournal

/// A directory of one test's own, which is removed with the value's last reference.
final class TemporaryDirectory: Sendable {
  let path: String

  init() throws {
    let url = FileManager.default.temporaryDirectory.appending(path: "journal-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    path = url.path
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// The path of a file in it.
  func file(_ name: String = "journal.jsonl") -> String { path + "/" + name }

  /// Its files, in order of their names.
  var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted() }
}

/// The content of a file; empty where there is none.
func bytes(of path: String) -> [UInt8] { FileManager.default.contents(atPath: path).map(Array.init) ?? [] }

/// The content of a file as text; empty where there is none.
func text(of path: String) -> String { String(decoding: bytes(of: path), as: UTF8.self) }

/// Makes a file.
func write(_ text: String, to path: String) throws { try Data(text.utf8).write(to: URL(filePath: path)) }
