import Glibc
import PseudoTerminal

/// A control group of the test's own that can be frozen.
struct Freezer {
  /// Which of the kernel's two.
  enum Version: String, CaseIterable { case v1, v2 }

  private let version: Version
  private let path: String

  /// Makes a group where the hierarchy is mounted.
  init(_ version: Version) throws {
    self.version = version
    let roots =
      version == .v1
      ? ["/sys/fs/cgroup/freezer"] : ["/sys/fs/cgroup/unified", "/sys/fs/cgroup"]
    let marker = version == .v1 ? "cgroup.procs" : "cgroup.controllers"
    guard let root = roots.first(where: { access("\($0)/\(marker)", F_OK) == 0 }) else {
      throw SystemError("no hierarchy at \(roots.joined(separator: " or "))", code: ENOENT)
    }
    path = "\(root)/app-lifecycle-\(getpid())"
    guard mkdir(path, 0o755) == 0 else { throw SystemError("mkdir \(path)") }
    guard access("\(path)/\(stateFile)", W_OK) == 0 else {
      defer { rmdir(path) }
      throw SystemError("\(path)/\(stateFile)")
    }
  }

  private var stateFile: String { version == .v1 ? "freezer.state" : "cgroup.freeze" }

  /// Takes a process into the group.
  func take(_ pid: Int32) throws { try write("\(pid)", to: "cgroup.procs") }

  func setFrozen(_ isFrozen: Bool) throws {
    switch version {
    case .v1: try write(isFrozen ? "FROZEN" : "THAWED", to: stateFile)
    case .v2: try write(isFrozen ? "1" : "0", to: stateFile)
    }
  }

  /// Removes the group, whose processes have ended.
  func remove() {
    try? setFrozen(false)
    rmdir(path)
  }

  private func write(_ text: String, to name: String) throws {
    let file = open("\(path)/\(name)", O_WRONLY | O_CLOEXEC)
    guard file >= 0 else { throw SystemError("open \(path)/\(name)") }
    defer { close(file) }
    let bytes = Array(text.utf8)
    guard Glibc.write(file, bytes, bytes.count) == bytes.count else { throw SystemError("write \(path)/\(name)") }
  }
}
