import Synchronization

/// Lines in the order in which they were written, from any thread.
final class Trace: Sendable {
  private let text = Mutex<[String]>([])

  var lines: [String] { text.withLock { $0 } }

  func write(_ line: String) { text.withLock { $0.append(line) } }
}
