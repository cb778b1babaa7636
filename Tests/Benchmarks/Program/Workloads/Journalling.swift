import AppLifecycle
import BenchmarkHarness
import Foundation
import LifecycleJournal

extension Section {
  /// Goes home with a journal, and flushes the same bytes without one; in turn, each pair on the same disk.
  static func journal(_ scale: Scale) -> Section {
    Section(
      name: "journal", title: "Home with a journal, µs by the clock", rounds: scale.isQuick ? 100 : 1_001,
      judgements: [
        Judgement(Row.home, "× write and flush", .atMost, 1.2) {
          // Where a flush costs next to nothing, it is no disk that is measured.
          guard let plain = $0.median(Row.home, Column.plain), plain > 50 else { return nil }
          return $0.ratio(Row.home, Column.ours, to: Column.plain)
        }
      ]
    ) {
      let subject = try JournalSubject()
      return [
        Contestant(Column.ours, row: Row.home) { try subject.goHome() },
        Contestant(Column.plain, row: Row.home) { try subject.writePlainly() },
      ]
    }
  }
}

private enum Row {
  static let home = "home, seven records"
}

extension Column {
  fileprivate static let plain = "write and flush"
}

/// An application with a journal, and a file that is written as plainly as can be.
private final class JournalSubject: @unchecked Sendable {
  @MainActor private final class Delegate: ApplicationDelegate {}

  private let directory: String
  private let journalPath: String
  private let plain: Int32
  /// Touched on the main actor alone, which is the benchmark's thread.
  private var application: Application?
  /// What the last transition has written.
  private var lines = Data()
  /// How long it took.
  private var elapsed = Duration.zero

  init() throws {
    directory = NSTemporaryDirectory() + "benchmark-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    journalPath = directory + "/journal.jsonl"
    plain = open(directory + "/plain.jsonl", O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
    guard plain >= 0 else { throw WorkNotDone("no file can be made in \(directory)") }
  }

  deinit {
    close(plain)
    try? FileManager.default.removeItem(atPath: directory)
  }

  /// Goes home, and comes back in time that does not count; the microseconds that it took.
  func goHome() throws -> Double {
    _ = try MainActorWork.time { [self] in
      let application = try launched()
      let before = size
      let start = ContinuousClock.now
      await application.handle(.home)
      elapsed = start.duration(to: .now)
      lines = try added(since: before)
      await application.handle(.open)
    }
    return elapsed.nanoseconds / 1_000
  }

  /// Writes by one call what the last transition has written, and flushes it; the microseconds that it took.
  func writePlainly() throws -> Double {
    let clock = ContinuousClock()
    let start = clock.now
    let written = lines.withUnsafeBytes { write(plain, $0.baseAddress, $0.count) }
    #if canImport(Darwin)
      let isFlushed = fsync(plain) == 0
    #else
      let isFlushed = fdatasync(plain) == 0
    #endif
    let elapsed = clock.now - start
    guard written == lines.count, isFlushed else { throw WorkNotDone("the plain file could not be written") }
    return elapsed.nanoseconds / 1_000
  }

  @MainActor private func launched() throws -> Application {
    if let application { return application }
    let application = Application(delegate: Delegate())
    var configuration = Journal.Configuration()
    configuration.maximumSize = nil
    let journal = Journal(at: journalPath, of: application, configuration: configuration)
    if let failure = journal.failure { throw failure }
    application.send(.launch)
    self.application = application
    return application
  }

  private var size: UInt64 {
    ((try? FileManager.default.attributesOfItem(atPath: journalPath))?[.size] as? NSNumber)?.uint64Value ?? 0
  }

  private func added(since start: UInt64) throws -> Data {
    let file = try FileHandle(forReadingFrom: URL(filePath: journalPath))
    defer { try? file.close() }
    try file.seek(toOffset: start)
    return try file.readToEnd() ?? Data()
  }
}
