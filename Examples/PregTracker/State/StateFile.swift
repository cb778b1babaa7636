import ExampleSupport
import Glibc

/// The file in which the due date outlives the program: one line, `due 2026-06-25`.
struct StateFile: Hashable, Sendable {
  let path: String

  enum Content: Hashable, Sendable {
    case absent
    case due(CivilDate)
    /// There is something, and it is not ours to replace: what is wrong with it.
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
  /// What stands in the way and is not a due date of this program's, or is read-only,
  /// is kept under another name, never lost.
  ///
  /// - Returns: What had to be kept, and where; nil if nothing.
  func save(_ due: CivilDate) throws(SystemError) -> SystemError? {
    let content = read()
    guard content != .due(due) else { return nil }
    let kept = try setAsideIfNeeded(content)
    try File.replace(path, with: Array("due \(due)\n".utf8))
    return kept
  }

  /// Keeps what is in the file's place under another name, if it must not be replaced.
  ///
  /// - Returns: What had to be kept, and where; nil if nothing.
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
