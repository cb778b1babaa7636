import AppLifecycle
import Foundation
import LifecycleJournal
import PseudoTerminal
import Synchronization

/// The game's program in real windows, and what it writes.
struct GameProgram {
  let child: ChildProcess
  private let output: LineFile

  /// Runs `body` with the game on a display, and ends the game afterwards.
  static func run<Result>(
    on display: VirtualDisplay, in directory: TemporaryDirectory, _ body: (GameProgram) async throws -> Result
  ) async throws -> Result {
    let output = try LineFile(directory.file("game.out"))
    let descriptor = open(output.path, O_WRONLY | O_APPEND | O_CLOEXEC)
    let child = try ChildProcess(
      [builtProduct("PausingGame"), "--record"],
      environment: bareEnvironment.merging(display.environment.merging(["XDG_STATE_HOME": directory.path]) { $1 }) {
        $1
      },
      descriptors: (-1, descriptor, 2), directory: nil)
    close(descriptor)
    return try await running {
      try await body(GameProgram(child: child, output: output))
    } finally: {
      await child.end()
    }
  }

  /// Waits until the game has written all of these since the previous wait, in any order: inputs of its application by their
  /// names, and its own lines.
  func writes(_ lines: String...) async throws {
    let missing = Mutex(Set(lines))
    try await output.line(lines.joined(separator: " and "), within: .seconds(120)) { line in
      missing.withLock {
        $0.remove(Self.input(in: line) ?? line)
        return $0.isEmpty
      }
    }
  }

  /// The inputs that the application has taken, and the game's own lines.
  var story: [String] { output.lines.compactMap { $0.hasPrefix("{") ? Self.input(in: $0) : $0 } }

  /// The records of the life cycle.
  var records: [LifecycleRecord] {
    output.lines.filter { $0.hasPrefix("{") }.compactMap(LifecycleRecord.init(jsonLine:))
  }

  private static func input(in line: String) -> String? {
    guard let record = LifecycleRecord(jsonLine: line), record.kind == .input else { return nil }
    return record.name
  }
}
