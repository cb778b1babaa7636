import Dispatch
import Glibc
import Synchronization

/// Standard error: what remains to be read when the screen is gone.
enum StandardError {
  /// How long a message may hold up the program.
  private static let patience = DispatchTimeInterval.seconds(1)
  /// More messages than that do not wait for a reader that takes nothing.
  private static let mostWaiting = 100

  private static let queue = DispatchQueue(label: "standard error")
  private static let waiting = Atomic(0)

  /// Writes one line: what would begin another line, or command a terminal, is made visible.
  ///
  /// Nothing depends on it. A message that cannot be written is lost. A reader that takes nothing (a terminal after Ctrl-S, a full
  /// pipe) holds up the first message for a second and no other: a thread of its own waits for it.
  static func writeLine(_ text: String) {
    let bytes = Array("\(text.escaped)\n".utf8)
    let before = waiting.wrappingAdd(1, ordering: .relaxed).oldValue
    guard before < mostWaiting else { return _ = waiting.wrappingSubtract(1, ordering: .relaxed) }
    let isWritten = DispatchSemaphore(value: 0)
    queue.async {
      writeAll(bytes)
      waiting.wrappingSubtract(1, ordering: .relaxed)
      isWritten.signal()
    }
    if before == 0 { _ = isWritten.wait(timeout: .now() + patience) }
  }

  private static func writeAll(_ bytes: [UInt8]) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
      if count > 0 {
        rest = rest.dropFirst(count)
      } else if count < 0, errno == EAGAIN {
        // Another program that shares the descriptor has made it non-blocking.
        var descriptor = pollfd(fd: STDERR_FILENO, events: Int16(POLLOUT), revents: 0)
        _ = poll(&descriptor, 1, -1)
      } else if count == 0 || errno != EINTR {
        return
      }
    }
  }
}
