import CPseudoTerminal
import Glibc

/// A file that a program appends lines to, read as it grows.
///
/// The kernel says when the file has grown (inotify), so that a wait for a line neither sleeps nor polls.
package final class LineFile: Sendable {
  /// The file's path.
  package let path: String
  private let file: Int32
  private let contents: Monitor<ReceivedLines>
  private let waker: Waker

  /// Makes the file, empty if there is none, and begins to read it.
  package init(_ path: String) throws {
    let file = open(path, O_RDONLY | O_CREAT | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw SystemError("open \(path)") }
    let watch = cpt_watch_open(path)
    guard watch >= 0 else {
      close(file)
      throw SystemError("inotify")
    }
    self.path = path
    self.file = file
    let contents = Monitor(ReceivedLines()) { $0.lines.joined(separator: "\n") }
    self.contents = contents
    let waker = try Waker()
    self.waker = waker
    startThread {
      var events = [UInt8](repeating: 0, count: 4_096)
      repeat {
        // Emptied first: what is written after this shows in the next round.
        while read(watch, &events, events.count) > 0 {}
        Self.catchUp(file, contents)
      } while waker.waitForInput(on: watch)
      close(watch)
      close(file)
      close(waker.descriptor)
    }
  }

  deinit { waker.wake() }

  /// Reads what has been added, and serves the tasks that wait for it.
  ///
  /// Any thread: the lock keeps the pieces in order.
  private static func catchUp(_ file: Int32, _ contents: Monitor<ReceivedLines>) {
    contents.update { if let bytes = try? readAll(from: file) { $0.append(bytes[...]) } }
  }

  /// All whole lines that have been written by now.
  package var lines: [String] {
    Self.catchUp(file, contents)
    return contents.state.lines
  }

  /// Waits for the next line that no one has taken yet and that `isWanted`; the lines before it count as taken.
  @discardableResult package func line(
    _ wanted: String, within limit: Duration = .seconds(240), where isWanted: @escaping @Sendable (String) -> Bool
  ) async throws -> String {
    try await contents.wait(for: "the line \(wanted)", within: limit) { $0.take(where: isWanted) }
  }

  /// Waits for a line that begins with `prefix`, as `line(_:within:where:)` does.
  @discardableResult package func line(
    startingWith prefix: String, within limit: Duration = .seconds(240)
  ) async throws -> String {
    try await line(prefix, within: limit) { $0.hasPrefix(prefix) }
  }
}

/// Bytes that arrive in pieces, as whole lines of which some have been taken.
struct ReceivedLines: Sendable {
  private(set) var lines: [String] = []
  private var taken = 0
  /// The beginning of a line whose end has not come yet.
  private var rest: [UInt8] = []

  mutating func append(_ bytes: ArraySlice<UInt8>) {
    rest += bytes
    while let end = rest.firstIndex(of: 0x0A) {
      lines.append(String(decoding: rest[..<end], as: UTF8.self))
      rest.removeSubrange(...end)
    }
  }

  /// The first line not yet taken that is wanted; those before it count as taken.
  mutating func take(where isWanted: (String) -> Bool) -> String? {
    guard let index = lines[taken...].firstIndex(where: isWanted) else { return nil }
    taken = index + 1
    return lines[index]
  }
}

/// A named pipe at which a program waits until the test lets it go on: a pause that lasts exactly as long as the test needs.
///
/// The program opens the pipe for reading and reads one byte.
package final class Gate: Sendable {
  /// The pipe's path.
  package let path: String
  private let descriptor: Int32

  /// Makes the pipe.
  package init(_ path: String) throws {
    guard mkfifo(path, 0o600) == 0 else { throw SystemError("mkfifo") }
    // Open for both directions: neither side's opening then waits for the other.
    descriptor = Glibc.open(path, O_RDWR | O_CLOEXEC)
    guard descriptor >= 0 else { throw SystemError("open \(path)") }
    self.path = path
  }

  deinit { close(descriptor) }

  /// Lets `passages` waits go on, those that have begun and those to come.
  package func open(_ passages: Int = 1) throws {
    try writeAll([UInt8](repeating: 0x2E, count: passages), to: descriptor)
  }

  /// Writes a text into the pipe, for a program that wants to be told more.
  package func write(_ text: String) throws { try writeAll(Array(text.utf8), to: descriptor) }
}
