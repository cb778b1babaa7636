import ExampleSupport
import Glibc

/// The file that keeps the due date between runs: one line, `due 2026-06-25`.
struct StateFile: Hashable, Sendable {
  let path: String

  enum Content: Hashable, Sendable {
    case absent
    case due(CivilDate)
    /// The path leads to something that this program must not replace; the text says what is wrong with it.
    case unusable(SystemError)
  }

  func read() -> Content {
    do throws(SystemError) {
      let bytes = try File.read(path, limit: 256)
      let text = String(decoding: bytes, as: UTF8.self)
      guard text.hasPrefix("due "), text.hasSuffix("\n"), let date = try? CivilDate(text.dropFirst(4).dropLast()) else {
        return .unusable(SystemError(path, bytes.isEmpty ? "empty" : "no due date in it"))
      }
      return .due(date)
    } catch {
      return error == SystemError(path, errno: ENOENT) ? .absent : .unusable(error)
    }
  }

  /// Writes the due date, whole or not at all.
  ///
  /// A file that is read-only, or that holds no due date of this program, is kept under another name and never lost.
  ///
  /// - Returns: a message that says which file was kept, and where; nil if none was.
  func save(_ due: CivilDate) throws(SystemError) -> SystemError? {
    let content = read()
    guard content != .due(due) else { return nil }
    let kept = try setAsideIfNeeded(content)
    try File.replace(path, with: Array("due \(due)\n".utf8))
    return kept
  }

  /// Renames the present file, if it must not be replaced.
  ///
  /// - Returns: a message that says which file was kept, and where; nil if none was.
  func setAsideIfNeeded(_ content: Content) throws(SystemError) -> SystemError? {
    let reason: SystemError
    switch content {
    case .absent: return nil
    case .unusable(let error): reason = error
    case .due:
      guard let obstacle = File.obstacle(to: path), obstacle.subject == path else { return nil }
      reason = obstacle
    }
    let kept = try File.setAside(path)
    return SystemError(path, "\(reason.reason); kept as \(kept)")
  }
}
