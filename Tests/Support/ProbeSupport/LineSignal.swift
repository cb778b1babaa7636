import Glibc
import Synchronization

/// A signal that a program sends itself right behind a line of its log.
///
/// A test that reads the line and then sends the signal is late by its own time on a busy machine, and that time would count
/// toward the limits that it is about.
package final class LineSignal: Sendable {
  private let line: String
  private let signal: Int32
  private let isDue = Atomic(true)

  /// `SIGNAL:LINE`: the signal's number, and how the line begins; nil if it is anything else.
  package init?(_ words: String) {
    let parts = words.split(separator: ":", maxSplits: 1)
    guard parts.count == 2, let signal = Int32(parts[0]) else { return nil }
    self.signal = signal
    line = String(parts[1])
  }

  /// Sends it after the first such line.
  func follow(_ line: String) {
    if line.hasPrefix(self.line), isDue.exchange(false, ordering: .relaxed) { kill(getpid(), signal) }
  }
}
