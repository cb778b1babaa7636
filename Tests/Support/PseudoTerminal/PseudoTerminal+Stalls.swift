import Glibc

/// A terminal whose other side does not read: a suspended `ssh`, a `tmux` without a client, Ctrl-S.
extension PseudoTerminal {
  /// Stops reading what the programs print, and returns once nothing more is read.
  ///
  /// The kernel keeps some 64 KiB; then the terminal takes nothing more, and a program that writes to it waits.
  package func pauseReading() async throws {
    contents.update { $0.isPaused = true }
    attention.wake()
    try await contents.wait(for: "the reader's pause", within: .seconds(60)) { contents in
      !contents.isReading || contents.isClosed ? () : nil
    }
  }

  /// Reads again, first of all what the kernel has kept.
  package func resumeReading() {
    contents.update { $0.isPaused = false }
    attention.wake()
  }

  /// Reads again after a time: the length of the stall is the scenario's own, and nothing else waits for it.
  package func resumeReading(after pause: Duration) {
    startThread { [self] in
      var left = timespec(
        tv_sec: Int(pause.components.seconds), tv_nsec: Int(pause.components.attoseconds / 1_000_000_000))
      var rest = timespec()
      while nanosleep(&left, &rest) != 0, errno == EINTR { left = rest }
      resumeReading()
    }
  }

  /// Prints until the terminal takes nothing more, as a program that prints faster than anything reads.
  ///
  /// What is printed are zero bytes: a terminal shows nothing for them. Pause the reading first.
  ///
  /// - Returns: How many bytes the terminal took.
  @discardableResult package func fill() throws -> Int {
    let device = open(slave, O_WRONLY | O_NOCTTY | O_CLOEXEC | O_NONBLOCK)
    guard device >= 0 else { throw SystemError("open \(slave)") }
    defer { close(device) }
    let zeros = [UInt8](repeating: 0, count: 4_096)
    var (total, size) = (0, zeros.count)
    while size > 0 {
      let count = write(device, zeros, size)
      if count > 0 {
        total += count
      } else if errno == EAGAIN {
        // The last bytes one by one: the kernel may refuse a piece of which a part would fit. And what it has taken it moves on
        // to the other side a moment later, which makes room for some more.
        var room = pollfd(fd: device, events: Int16(POLLOUT), revents: 0)
        size = poll(&room, 1, 50) > 0 ? zeros.count : size / 2
      } else if errno != EINTR {
        throw SystemError("write \(slave)")
      }
    }
    return total
  }
}
