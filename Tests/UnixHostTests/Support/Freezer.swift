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
    // A process number may be in use twice where containers share the hierarchy.
    path = "\(root)/app-lifecycle-\(getpid())-\(String(UInt64.random(in: 0...UInt64.max), radix: 16))"
    try make()
    guard access("\(path)/\(stateFile)", W_OK) == 0 else {
      defer { rmdir(path) }
      throw SystemError("\(path)/\(stateFile)")
    }
  }

  private var stateFile: String { version == .v1 ? "freezer.state" : "cgroup.freeze" }

  /// Takes a process into the group.
  ///
  /// A systemd that ends beside the test removes groups without processes, so this may have to make it again.
  func take(_ pid: Int32) throws {
    for attempt in 1... {
      do {
        try make()
        return try write("\(pid)", to: "cgroup.procs")
      } catch let error as SystemError where [ENOENT, ENODEV].contains(error.code) && attempt < 10 {}
    }
  }

  /// Makes the group, unless it is there.
  private func make() throws {
    guard mkdir(path, 0o755) == 0 || errno == EEXIST else { throw SystemError("mkdir \(path)") }
  }

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
