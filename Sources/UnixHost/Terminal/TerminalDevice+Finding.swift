import LibC

/// The reason why a program has found no terminal of its own session.
struct MissingTerminal: Error {
  /// The error of opening `/dev/tty`; `ENOTTY` if that is another file or terminal.
  var error: Int32

  /// The reason, as the beginning of a sentence.
  var reason: String {
    // ENXIO is the kernel's answer to a process that has no controlling terminal, and `setsid` starts such a process.
    guard error != ENXIO else { return "without a controlling terminal" }
    let cause =
      error == ENOTTY ? "is not this session's terminal" : "cannot be opened (\(String(cString: strerror(error))))"
    return "because /dev/tty \(cause) and no standard stream leads to it"
  }

  /// Whether the system had no free descriptor, so that there may still be a terminal.
  var isShortage: Bool { error == EMFILE || error == ENFILE }
}

extension TerminalDevice {
  /// Opens the terminal of this process's session.
  ///
  /// `/dev/tty` may be missing or of the wrong mode, as in a chroot or a small container. Then a standard stream leads
  /// to the terminal, if it is that of this session. The stream's file is opened once more, because its non-blocking
  /// mode belongs to the open file, which the shell shares. If that is impossible, the descriptor itself is used, and
  /// keeps its mode.
  ///
  /// - Returns: a descriptor for reading and writing, which the caller closes.
  static func openTerminal() throws(MissingTerminal) -> Int32 {
    let terminal = reopen("/dev/tty")
    if terminal >= 0 { return terminal }
    let error = errno
    for stream in 0...2 as ClosedRange<Int32> where isOurTerminal(stream) {
      var name = [CChar](repeating: 0, count: 256)
      for path in [ttyname_r(stream, &name, name.count) == 0 ? text(name) : nil, "/proc/self/fd/\(stream)"] {
        guard let path, case let again = reopen(path), again >= 0 else { continue }
        return again
      }
      guard fcntl(stream, F_GETFL) & O_ACCMODE == O_RDWR, case let copy = fcntl(stream, F_DUPFD_CLOEXEC, 3), copy >= 0
      else { continue }
      return copy
    }
    throw MissingTerminal(error: error)
  }

  /// The reason why the process has no terminal; nil if it has one.
  static var missing: MissingTerminal? {
    do throws(MissingTerminal) {
      LibC.close(try openTerminal())
      return nil
    } catch {
      return error.isShortage ? nil : error
    }
  }

  /// A standard stream that is a terminal, perhaps that of another session.
  static var streamAtTerminal: Int32? { (0...2).first { isatty($0) == 1 } }

  private static func reopen(_ path: String) -> Int32 {
    let terminal = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK)
    guard terminal >= 0, !isOurTerminal(terminal) else { return terminal }
    LibC.close(terminal)
    errno = ENOTTY
    return -1
  }

  /// Whether a descriptor is the controlling terminal of this process: the kernel tells its session to no other.
  private static func isOurTerminal(_ descriptor: Int32) -> Bool { tcgetsid(descriptor) == getsid(0) }

  private static func text(_ name: [CChar]) -> String {
    String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }
}
