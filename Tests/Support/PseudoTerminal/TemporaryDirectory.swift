import Glibc

/// A directory for one test's files, removed with all in it by ``remove()``.
package struct TemporaryDirectory: Sendable {
  /// Its path, without a slash at the end.
  package let path: String

  /// Makes a new directory under `$TMPDIR`, or `/tmp`.
  package init() throws {
    let parent = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    var template = Array("\(parent)/app-lifecycle.XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw SystemError("mkdtemp") }
    path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  /// The path of a file in the directory.
  package func file(_ name: String) -> String { "\(path)/\(name)" }

  /// Writes a file in the directory, with all its text at once.
  package func write(_ text: String, to name: String) throws {
    let file = open(file(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw SystemError("open \(name)") }
    defer { close(file) }
    try writeAll(Array(text.utf8), to: file)
  }

  /// Removes the directory and all in it.
  package func remove() { Self.removeTree(path) }

  private static func removeTree(_ path: String) {
    // Neither call follows a link: a link is removed, not what it names.
    if unlink(path) == 0 { return }
    for name in (try? fileNames(in: path)) ?? [] { removeTree("\(path)/\(name)") }
    rmdir(path)
  }
}

/// Runs `body` with a directory of its own and removes it afterwards, also when the body throws.
package func withTemporaryDirectory<Result>(
  _ body: (TemporaryDirectory) async throws -> Result
) async throws -> Result {
  let directory = try TemporaryDirectory()
  defer { directory.remove() }
  return try await body(directory)
}

/// The names of a directory's entries, without the two that every directory has.
package func fileNames(in path: String) throws -> [String] {
  guard let directory = opendir(path) else { throw SystemError("opendir \(path)") }
  defer { closedir(directory) }
  var names: [String] = []
  while let item = readdir(directory) {
    let name = withUnsafeBytes(of: item.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    if name != ".", name != ".." { names.append(name) }
  }
  return names
}
