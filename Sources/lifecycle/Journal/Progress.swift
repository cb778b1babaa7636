import AppLifecycle

/// The progress of reading a long file, shown on the terminal.
///
/// It does not wait for a terminal that accepts no bytes at the moment.
final class Progress {
  private var name = ""
  private var size: Int64 = 0
  /// The position from which on the shown percentage changes.
  private var next = Int64.max
  private var isOnScreen = false
  private static let shortest: Int64 = 32 * 1_024 * 1_024

  /// Creates a progress; nil if there is no terminal to show it on.
  ///
  /// - Parameter isBesideOutput: whether output appears on standard output while the file is read. If that is a terminal, the
  ///   output itself shows the progress.
  init?(isBesideOutput: Bool = false) {
    guard isatty(2) == 1, !isBesideOutput || isatty(1) == 0 else { return nil }
  }

  /// Begins to show a file of a length in bytes, read from a position on.
  func begin(_ name: String, from position: Int64, size: Int64) {
    // A text of several lines could not be removed, and a path may be long.
    self.name = String(name.split(separator: "/").last ?? "").cut(toScalars: 40)
    self.size = size
    next = size - position < Self.shortest ? .max : position + size / 100
  }

  /// Shows that the file has been read up to a position.
  func show(_ position: Int64) {
    guard position >= next else { return }
    // The file may have grown meanwhile.
    let shown = min(position / (size / 100), 100)
    next = (shown + 1) * (size / 100)
    guard isTerminalReady else { return }
    isOnScreen = true
    try? StandardStreams.write("\r\(text(shown))", to: .error)
  }

  /// Removes the progress from the terminal, before other output.
  func clear() {
    guard isOnScreen, isTerminalReady else { return }
    isOnScreen = false
    let blanks = String(repeating: " ", count: text(100).count) + "\r"
    try? StandardStreams.write("\r" + (Terminal.isDumb ? blanks : "\u{1B}[K"), to: .error)
  }

  private func text(_ percentage: Int64) -> String { "\(name.printable): \(percentage) %" }

  /// Whether the terminal accepts bytes now: the user may have stopped it, and a serial line may be slow.
  private var isTerminalReady: Bool {
    var terminal = pollfd(fd: 2, events: Int16(POLLOUT), revents: 0)
    return poll(&terminal, 1, 0) == 1 && terminal.revents & Int16(POLLOUT) != 0
  }
}
