import CPseudoTerminal
import Glibc

/// What `/proc` says of processes that are not children of the test.
package enum ProcessTable {
  /// What `/proc/PID/stat` says of one process.
  package struct Entry: Sendable {
    /// The process number.
    package let pid: Int32
    /// The state's letter: R, S, T or Z, say.
    package let state: Character
    /// The parent's number.
    package let parent: Int32
    /// The process group.
    package let group: Int32
    /// The session, named by its leader's number.
    package let session: Int32

    /// Whether it has ended and only its status is left.
    package var isZombie: Bool { state == "Z" || state == "X" }
  }

  /// The entry of one process, or nil where there is none.
  package static func entry(_ pid: Int32) -> Entry? {
    guard let text = try? readFile("/proc/\(pid)/stat"),
      // The command's name stands in parentheses and may itself contain any character.
      let close = text.lastIndex(of: ")")
    else { return nil }
    let fields = text[text.index(after: close)...].split(separator: " ")
    guard fields.count > 3, let parent = Int32(fields[1]), let group = Int32(fields[2]), let session = Int32(fields[3])
    else { return nil }
    return Entry(pid: pid, state: fields[0].first!, parent: parent, group: group, session: session)
  }

  /// The processes of a session that have not ended.
  package static func members(ofSession session: Int32) -> [Entry] {
    ((try? fileNames(in: "/proc")) ?? []).compactMap { Int32($0) }.compactMap(entry)
      .filter { $0.session == session && !$0.isZombie }
  }

  /// The processes of a session that run this program and have not ended.
  package static func members(ofSession session: Int32, running program: String) -> [Entry] {
    // The kernel keeps fifteen bytes of the name.
    let name = String(program.prefix(15)) + "\n"
    return members(ofSession: session).filter { (try? readFile("/proc/\($0.pid)/comm")) == name }
  }

  /// Kills every process of a session and waits until none is left.
  ///
  /// The leader must not have been reaped, or its number might name another session by now.
  static func end(session: Int32) async {
    await onThread {
      while true {
        let members = members(ofSession: session)
        if members.isEmpty { return }
        for member in members {
          let process = cpt_process_open(member.pid)
          guard process >= 0 else { continue }
          defer { close(process) }
          // The number may have changed hands between the listing and the opening; from here on it cannot.
          guard entry(member.pid)?.session == session else { continue }
          _ = cpt_process_signal(process, SIGKILL)
          var ended = pollfd(fd: process, events: Int16(POLLIN), revents: 0)
          while poll(&ended, 1, -1) < 0, errno == EINTR {}
        }
      }
    }
  }

  /// Whether a signal was sent to a process and no thread of the process has taken it yet; false once the process has ended.
  package static func isPending(_ signal: Int32, in pid: Int32) -> Bool {
    let lines = (try? readFile("/proc/\(pid)/status"))?.split(separator: "\n") ?? []
    guard let line = lines.first(where: { $0.hasPrefix("ShdPnd:") }),
      let word = line.split(separator: "\t").last, let pending = UInt64(word, radix: 16)
    else { return false }
    return pending & (1 << UInt64(signal - 1)) != 0
  }

  /// Waits until every thread of a process has stopped, or the process is gone.
  ///
  /// A stop that was sent takes effect when one thread of the process is next given a processor; the others run on until then.
  /// Nothing tells of it but the look: a process that is no parent is not told.
  ///
  /// - Returns: Whether that came before the deadline.
  @discardableResult package static func stopping(of pid: Int32, within limit: Duration = .seconds(240)) async -> Bool {
    await onThread {
      let start = ContinuousClock.now
      func isRunning(_ task: String) -> Bool {
        guard let text = try? readFile("/proc/\(pid)/task/\(task)/stat"), let close = text.lastIndex(of: ")") else {
          return false
        }
        // Stopped, or no more than a status that no parent has read.
        return text[close...].dropFirst(2).first.map { !"TtZX".contains($0) } ?? false
      }
      while let tasks = try? fileNames(in: "/proc/\(pid)/task"), tasks.contains(where: isRunning) {
        guard ContinuousClock.now - start < limit else { return false }
        sched_yield()
      }
      return true
    }
  }

  /// Waits until a process that was stopped runs again, or is gone.
  package static func continuing(of pid: Int32, within limit: Duration = .seconds(240)) async throws {
    let hasContinued = await onThread {
      let start = ContinuousClock.now
      while let entry = entry(pid), entry.state == "T" {
        guard ContinuousClock.now - start < limit else { return false }
        sched_yield()
      }
      return true
    }
    if !hasContinued {
      throw WaitFailed(cause: .deadline(limit), wanted: "process \(pid) to run on", found: "a stopped process")
    }
  }

  /// Waits until the first thread of a process sleeps, in a read say, or the process is gone.
  package static func sleeping(of pid: Int32) async {
    await onThread {
      while let entry = entry(pid), !entry.isZombie, entry.state != "S" { sched_yield() }
    }
  }

  /// Waits until a process has ended, whosever child it is.
  package static func ending(of pid: Int32, within limit: Duration = .seconds(240)) async throws {
    let process = cpt_process_open(pid)
    if process < 0 {
      if errno == ESRCH { return }
      throw SystemError("pidfd_open")
    }
    let milliseconds = Int32(limit / .milliseconds(1))
    let hasEnded = await onThread {
      defer { close(process) }
      var ended = pollfd(fd: process, events: Int16(POLLIN), revents: 0)
      while true {
        let count = poll(&ended, 1, milliseconds)
        if count >= 0 || errno != EINTR { return count == 1 }
      }
    }
    if !hasEnded {
      throw WaitFailed(
        cause: .deadline(limit), wanted: "the end of process \(pid)",
        found: entry(pid).map { "state \($0.state)" } ?? "nothing")
    }
  }
}

/// The whole of a small file as text.
package func readFile(_ path: String) throws -> String {
  let file = open(path, O_RDONLY | O_CLOEXEC)
  guard file >= 0 else { throw SystemError("open \(path)") }
  defer { close(file) }
  return String(decoding: try readAll(from: file), as: UTF8.self)
}

/// Everything that a blocking descriptor gives until its end.
package func readAll(from descriptor: Int32) throws -> [UInt8] {
  var bytes: [UInt8] = []
  var buffer = [UInt8](repeating: 0, count: 65_536)
  while true {
    let count = read(descriptor, &buffer, buffer.count)
    if count > 0 {
      bytes += buffer[0..<count]
    } else if count == 0 {
      return bytes
    } else if errno != EINTR {
      throw SystemError("read")
    }
  }
}
