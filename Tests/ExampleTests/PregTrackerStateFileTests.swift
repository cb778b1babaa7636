import ExampleSupport
import Glibc
import PseudoTerminal
import Testing

@testable import PregTracker

@Suite final class PregTrackerStateFileTests {
  private let temporary: TemporaryDirectory
  private var directory: String { temporary.path }

  init() throws { temporary = try TemporaryDirectory() }
  deinit { temporary.remove() }

  @Test func `A due date comes back as it was saved, in a directory made for it`() throws {
    let file = StateFile(path: "\(directory)/a/b/due-date")
    #expect(file.read() == .absent)
    #expect(try file.save(CivilDate("2026-06-25")) == nil)
    #expect(file.read() == .due(try CivilDate("2026-06-25")))
    #expect(try file.save(CivilDate("2026-06-26")) == nil)
    #expect(file.read() == .due(try CivilDate("2026-06-26")))
    #expect(try names(in: "\(directory)/a/b") == ["due-date"])
  }

  @Test(arguments: ["", "due 2026-06-25", "due 2026-02-30\n", "due 2026-06-25\n\n", "{}", "\u{0}\u{1}\u{2}"])
  func `What is not whole is unusable, and is kept when a date is saved`(text: String) throws {
    let path = "\(directory)/due-date"
    let file = StateFile(path: path)
    try File.replace(path, with: Array(text.utf8))
    guard case .unusable = file.read() else { return #expect(Bool(false), "\(file.read())") }
    let kept = try file.save(CivilDate("2026-06-25"))
    #expect(kept?.subject == path)
    #expect(kept?.reason.hasSuffix("; kept as \(path).kept-1") == true)
    #expect(try File.read("\(path).kept-1", limit: 256) == Array(text.utf8))
    #expect(file.read() == .due(try CivilDate("2026-06-25")))
  }

  @Test func `What was kept before is not overwritten either`() throws {
    let path = "\(directory)/due-date"
    for text in ["one", "two", "three"] {
      try File.replace(path, with: Array(text.utf8))
      _ = try StateFile(path: path).save(CivilDate("2026-06-25"))
    }
    #expect(try names(in: directory) == ["due-date", "due-date.kept-1", "due-date.kept-2", "due-date.kept-3"])
    #expect(try File.read("\(path).kept-2", limit: 256) == Array("two".utf8))
  }

  @Test func `A read-only file is kept, not replaced`() throws {
    let path = "\(directory)/due-date"
    let file = StateFile(path: path)
    _ = try file.save(CivilDate("2026-06-25"))
    chmod(path, 0o444)
    #expect(File.obstacle(to: path) == SystemError(path, "read-only"))
    #expect(try file.save(CivilDate("2026-06-25")) == nil)
    #expect(try file.save(CivilDate("2026-06-26")) == SystemError(path, "read-only; kept as \(path).kept-1"))
    #expect(file.read() == .due(try CivilDate("2026-06-26")))
    #expect(StateFile(path: "\(path).kept-1").read() == .due(try CivilDate("2026-06-25")))
  }

  @Test func `A directory or a device in the file's place is named and left alone`() throws {
    for path in [directory, "/dev/null", "/dev/zero"] {
      guard case .unusable = StateFile(path: path).read() else { return #expect(Bool(false), "\(path)") }
      #expect(throws: SystemError(path, "not a file")) { try StateFile(path: path).save(CivilDate("2026-06-25")) }
      #expect(File.obstacle(to: path) == SystemError(path, "not a file"))
    }
  }

  @Test func `A path that leads through a file is an obstacle, named with its reason`() throws {
    try File.replace("\(directory)/file", with: [])
    let path = "\(directory)/file/due-date"
    #expect(File.obstacle(to: path) == SystemError(path, "Not a directory"))
    #expect(throws: SystemError(path, "Not a directory")) { try StateFile(path: path).save(CivilDate("2026-06-25")) }
  }

  @Test func `A symbolic link stays one, what it names is replaced`() throws {
    let (link, target) = ("\(directory)/link", "\(directory)/target")
    symlink("target", link)
    try File.replace(target, with: Array("due 2026-06-24\n".utf8))
    _ = try StateFile(path: link).save(CivilDate("2026-06-25"))
    #expect(StateFile(path: target).read() == .due(try CivilDate("2026-06-25")))
    #expect(try names(in: directory) == ["link", "target"])
  }

  @Test func `What will be made is no obstacle`() throws {
    #expect(File.obstacle(to: "\(directory)/a/b/due-date") == nil)
    #expect(File.obstacle(to: "due-date") == nil)
  }

  @Test func `Today is read at each use, and a bad file names itself`() throws {
    let path = "\(directory)/today"
    let today = Today.file(path)
    try File.replace(path, with: Array("2026-02-07\n".utf8))
    #expect(try today.read() == CivilDate("2026-02-07"))
    #expect(try today.advanced { 30 }.read() == CivilDate("2026-03-09"))
    try File.replace(path, with: Array("2026-02-08".utf8))
    #expect(try today.read() == CivilDate("2026-02-08"))
    try File.replace(path, with: Array("soon".utf8))
    #expect(throws: SystemError(path, "“soon” is not a date; write YYYY-MM-DD")) { try today.read() }
    unlink(path)
    #expect(throws: SystemError(path, "No such file or directory")) { try today.read() }
  }
}

/// The names in a directory, in order.
func names(in path: String) throws -> [String] {
  let directory = try #require(opendir(path))
  defer { closedir(directory) }
  var names: [String] = []
  while let entry = readdir(directory) {
    let name = withUnsafePointer(to: &entry.pointee.d_name) {
      $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
    }
    if name != ".", name != ".." { names.append(name) }
  }
  return names.sorted()
}
