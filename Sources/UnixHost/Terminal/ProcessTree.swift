import LibC

/// The processes that could continue this process if it stopped.
///
/// The type is pure, except for ``live``.
///
/// The kernel refuses to stop an *orphaned* process group. In such a group no process has a parent that is outside the
/// group and in the same session, as a shell with job control is. Examples are a terminal that runs the program
/// directly, `(program &)`, and a container's first process. There Ctrl-Z does nothing, so nothing must be torn down
/// for it.
struct ProcessTree: Sendable {
  /// The parent, the group and the session of a process.
  struct Entry: Sendable, Hashable {
    var parent: pid_t
    var group: pid_t
    var session: pid_t
    /// Whether the process ignores SIGTSTP, and so would not stop with its group.
    var ignoresStop = false
  }

  /// Looks a process up; returns nil if it does not exist or is not visible.
  var entry: @Sendable (pid_t) -> Entry?

  /// Whether another process could continue the process if it stopped.
  ///
  /// There must be a shell, and its own child must stop, too: the shell waits for that, and learns nothing of a
  /// grandchild that stops alone.
  ///
  /// - Complexity: linear in the number of ancestors in the group.
  func canStop(_ process: pid_t) -> Bool { shell(of: process).map { !$0.child.ignoresStop } ?? false }

  /// Returns the group of the shell that runs the process's job; nil if no process could continue the job.
  ///
  /// - Complexity: linear in the number of ancestors in the group.
  func shellGroup(of process: pid_t) -> pid_t? { shell(of: process)?.group }

  /// Returns the ancestors of a process, its parent first, as far as they are visible.
  func ancestors(of process: pid_t) -> [pid_t] {
    var ancestors: [pid_t] = []
    var next = entry(process)?.parent ?? 0
    // A tree that changes while it is read might contain a cycle.
    while next > 0, !ancestors.contains(next) {
      ancestors.append(next)
      next = entry(next)?.parent ?? 0
    }
    return ancestors
  }

  /// Returns the group of the shell that runs the process's job, and the shell's child in the job.
  ///
  /// The method follows the parents while they are in the process's group. The first parent outside it must be in the
  /// same session.
  private func shell(of process: pid_t) -> (group: pid_t, child: Entry)? {
    guard process != 1, let own = entry(process) else { return nil }
    var seen: Set<pid_t> = [process]
    var ancestor = own.parent
    // The last process of the group on the way.
    var top = own
    // A tree that changes while it is read might contain a cycle.
    while ancestor > 0, seen.insert(ancestor).inserted, let candidate = entry(ancestor) {
      if candidate.group != own.group { return candidate.session == own.session ? (candidate.group, top) : nil }
      top = candidate
      ancestor = candidate.parent
    }
    return nil
  }

  /// The processes of this machine.
  static let live = ProcessTree { process in
    let group = getpgid(process)
    let session = getsid(process)
    guard group >= 0, session >= 0 else { return nil }
    // Its own stop does not depend on what the program has found.
    guard process != getpid() else { return Entry(parent: getppid(), group: group, session: session) }
    return Entry(
      parent: parent(of: process), group: group, session: session,
      ignoresStop: group == getpgrp() && ignoresStop(process))
  }

  /// Returns the parent of another process; 0 if it is unknown.
  private static func parent(of process: pid_t) -> pid_t {
    #if canImport(Darwin)
      var info = proc_bsdinfo()
      let size = Int32(MemoryLayout<proc_bsdinfo>.size)
      guard proc_pidinfo(process, PROC_PIDTBSDINFO, 0, &info, size) == size else { return 0 }
      return pid_t(info.pbi_ppid)
    #else
      return contents(of: "/proc/\(process)/stat").flatMap(parent(inStatus:)) ?? 0
    #endif
  }

  /// Returns whether another process ignores SIGTSTP; false if it is unknown.
  private static func ignoresStop(_ process: pid_t) -> Bool {
    #if canImport(Darwin)
      return false
    #else
      return contents(of: "/proc/\(process)/status").map(ignoresStop(inStatus:)) ?? false
    #endif
  }

  /// Parses the line `SigIgn` of `/proc/PID/status`, a mask in hexadecimal digits.
  static func ignoresStop(inStatus text: some Collection<UInt8>) -> Bool {
    for line in text.split(separator: UInt8(ascii: "\n")) where line.starts(with: "SigIgn:".utf8) {
      let digits = line.dropFirst("SigIgn:".utf8.count).filter { $0 != UInt8(ascii: "\t") && $0 != UInt8(ascii: " ") }
      return UInt64(String(decoding: digits, as: UTF8.self), radix: 16).map { $0 & (1 << UInt64(SIGTSTP - 1)) != 0 }
        ?? false
    }
    return false
  }

  #if !canImport(Darwin)
    /// Reads the beginning of a file of the kernel; nil if it cannot be read.
    private static func contents(of path: String) -> ArraySlice<UInt8>? {
      let file = open(path, O_RDONLY | O_CLOEXEC)
      guard file >= 0 else { return nil }
      defer { close(file) }
      var buffer = [UInt8](repeating: 0, count: 4096)
      let count = read(file, &buffer, buffer.count)
      return count > 0 ? buffer[..<count] : nil
    }
  #endif

  /// Parses the parent from the line of `/proc/PID/stat`.
  ///
  /// It is the second field after the name, which is in parentheses and may itself contain spaces and parentheses.
  static func parent(inStatus line: some BidirectionalCollection<UInt8>) -> pid_t? {
    guard let nameEnds = line.lastIndex(of: UInt8(ascii: ")")) else { return nil }
    let fields = line[line.index(after: nameEnds)...].split(separator: UInt8(ascii: " "))
    guard fields.count >= 2 else { return nil }
    return pid_t(String(decoding: fields[1], as: UTF8.self))
  }
}
