import AppLifecycle
import CUnixHost
import LibC
import PubSub
import Scheduling

/// Writes messages to standard error, for the user at the terminal or the log of a service.
public enum StandardError {
  /// Writes one line.
  ///
  /// Control characters are escaped, because a text may quote a file or a peer: no text can begin another line or
  /// control a terminal. While the program has its screen in the terminal, the line is kept, and shown when the program
  /// leaves the screen. A terminal host also keeps the line while another job than the program's shell has the terminal,
  /// or a child process to which it is lent: these may have a screen of their own.
  ///
  /// A line that cannot be written is lost. Standard error may accept no output, for example a full pipe or a terminal
  /// that is not read. Then the first line waits for a quarter of a second, and later lines do not wait.
  ///
  /// Any thread may call it, also before a host runs. The method uses no buffer and no lock, so a thread can report
  /// code that holds one. A failed write may raise SIGPIPE or SIGXFSZ, which end the process unless a host runs or the
  /// program ignores them.
  ///
  /// - Parameter text: the line, without a line end.
  public static func writeLine(_ text: String) {
    let line = Array("\(text.printable)\n".utf8)
    if isAnothersScreen, unixhost_stderr_keep(line, line.count) { return }
    _ = unixhost_stderr_write(line, line.count)
  }
}

extension StandardError {
  /// The lines that a host shows later.
  enum Keeping: Sendable {
    case none
    case ofAnotherJobsTerminal
    /// A child process to which the terminal is lent may be in the program's own group.
    case ofLentTerminal
  }

  static let keeping = Guarded(Keeping.none)

  /// Whether standard error is a terminal with the screen of another program, which is not the program's shell.
  private static var isAnothersScreen: Bool {
    let keeping = keeping.withLock { $0 }
    guard keeping != .none, case let group = tcgetpgrp(STDERR_FILENO), group >= 0 else { return false }
    return keeping == .ofLentTerminal
      || group != getpgrp() && group != ProcessTree.live.shellGroup(of: getpid()) && group != getsid(0)
  }
}

extension String {
  /// The text in one line: a space for each line end, and all other control characters escaped.
  ///
  /// A line feed would begin another field of a service manager's message, and a zero byte would make it void.
  var inOneLine: String { String(map { $0.isNewline ? " " : $0 }).printable }

  /// The beginning of the text, with an ellipsis, if its encoding is longer than the limit.
  func cut(toBytes limit: Int) -> String {
    guard utf8.count > limit else { return self }
    let ellipsis = "…"
    var count = ellipsis.utf8.count
    let kept = unicodeScalars.prefix { scalar in
      count += UTF8.width(scalar)
      return count <= limit
    }
    return String(kept) + ellipsis
  }
}
