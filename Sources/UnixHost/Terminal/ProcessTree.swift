#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

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
  }

  /// Looks a process up; returns nil if it does not exist or is not visible.
  var entry: @Sendable (pid_t) -> Entry?

  /// Whether another process could continue the process if it stopped.
  ///
  /// The method follows the parents while they are in the process's group. The first parent outside it must be in the
  /// same session.
  ///
  /// - Complexity: linear in the number of ancestors in the group.
  func canStop(_ process: pid_t) -> Bool { shellGroup(of: process) != nil }

  /// Returns the group of the shell that runs the process's job; nil if no process could continue the job.
  ///
  /// - Complexity: linear in the number of ancestors in the group.
  func shellGroup(of process: pid_t) -> pid_t? {
    guard process != 1, let own = entry(process) else { return nil }
    var seen: Set<pid_t> = [process]
    var ancestor = own.parent
    // A tree that changes while it is read might contain a cycle.
    while ancestor > 0, seen.insert(ancestor).inserted, let candidate = entry(ancestor) {
      if candidate.group != own.group { return candidate.session == own.session ? candidate.group : nil }
      ancestor = candidate.parent
    }
    return nil
  }

  /// The processes of this machine.
  static let live = ProcessTree { process in
    let group = getpgid(process)
    let session = getsid(process)
    guard group >= 0, session >= 0 else { return nil }
    return Entry(parent: process == getpid() ? getppid() : parent(of: process), group: group, session: session)
  }

  /// Returns the parent of another process; 0 if it is unknown.
  private static func parent(of process: pid_t) -> pid_t {
    #if canImport(Darwin)
      var info = proc_bsdinfo()
      let size = Int32(MemoryLayout<proc_bsdinfo>.size)
      guard proc_pidinfo(process, PROC_PIDTBSDINFO, 0, &info, size) == size else { return 0 }
      return pid_t(info.pbi_ppid)
    #else
      let file = open("/proc/\(process)/stat", O_RDONLY | O_CLOEXEC)
      guard file >= 0 else { return 0 }
      defer { close(file) }
      var buffer = [UInt8](repeating: 0, count: 512)
      let count = read(file, &buffer, buffer.count)
      guard count > 0 else { return 0 }
      return parent(inStatus: buffer[..<count]) ?? 0
    #endif
  }

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
