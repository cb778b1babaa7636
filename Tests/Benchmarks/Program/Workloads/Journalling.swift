import AppLifecycle
import BenchmarkHarness
import Foundation
import LifecycleJournal
import PubSub

extension Section {
  /// Goes home with a journal, without one, and with a plain write and flush of the same bytes where the journal flushes; in
  /// turn, on the same disk.
  static func journal(_ scale: Scale) -> Section {
    var place: String?
    return Section(
      // Quick or not: they take two seconds, and fewer say nothing.
      name: "journal", title: "Home with a journal, µs by the clock", rounds: 1_001,
      judgements: [
        Judgement(Row.home, "× write and flush", .atMost, 1.2) {
          guard let with = $0.median(Row.home, Column.ours), let plain = $0.median(Row.home, Column.plain),
            let without = $0.median(Row.home, Column.bare), plain > without
          else { return nil }
          return (with - without) / (plain - without)
        }
      ],
      note: { results in
        guard let place else {
          return "Not measured: nowhere does a write and flush take more than \(Int(Disk.shortestFlush)) µs; TMPDIR may"
            + " name a directory where it does."
        }
        return "Written in \(place)."
      }
    ) {
      guard let disk = Disk.find() else { return [] }
      place = disk.parent
      let journalled = try JournalSubject(.journal, in: disk)
      let bare = try JournalSubject(.nothing, in: disk)
      let plain = try JournalSubject(.plain { journalled.written }, in: disk)
      return [
        Contestant(Column.ours, row: Row.home) { try journalled.goHome() },
        Contestant(Column.plain, row: Row.home) { try plain.goHome() },
        Contestant(Column.bare, row: Row.home) { try bare.goHome() },
      ]
    }
  }
}

private enum Row {
  static let home = "home, seven records"
}

extension Column {
  /// The same with nothing written.
  fileprivate static let bare = "bare"
  /// A plain write and flush.
  fileprivate static let plain = "write"
}

/// A directory for files that are flushed.
final class Disk {
  /// Where a flush costs less, in microseconds, it is no disk that is measured.
  static let shortestFlush = 50.0

  let parent: String
  let directory: String

  private init?(in parent: String) {
    self.parent = parent
    directory = (parent as NSString).appendingPathComponent("benchmark-\(UUID().uuidString)")
    guard mkdir(directory, 0o700) == 0 else { return nil }
  }

  deinit { try? FileManager.default.removeItem(atPath: directory) }

  /// A directory for files that are only read.
  static func anywhere() throws -> Disk {
    guard let disk = Disk(in: NSTemporaryDirectory()) else { throw WorkNotDone("there is no directory for files") }
    return disk
  }

  /// The first place where a write and flush takes long enough; nil if there is none.
  static func find() -> Disk? {
    let parents = [NSTemporaryDirectory(), "/var/tmp", FileManager.default.currentDirectoryPath, NSHomeDirectory()]
    return parents.lazy.compactMap { Disk(in: $0) }.first { disk in
      guard let file = try? PlainFile(in: disk) else { return false }
      let bytes = Data(repeating: 0x0A, count: 800)
      let clock = ContinuousClock()
      let times = (0..<50).compactMap { _ in
        try? clock.measure { try file.write(Transition(home: bytes, open: bytes)) }.nanoseconds / 1_000
      }
      return Samples(times).median ?? 0 > shortestFlush
    }
  }
}

/// What a journal writes on the way home, which it flushes, and on the way back, which it leaves for the next flush.
private struct Transition {
  var home = Data()
  var open = Data()
}

/// A file that is written as plainly as can be.
private final class PlainFile {
  private let descriptor: Int32
  /// Its directory lasts as long.
  private let disk: Disk
  /// What was left for the next flush.
  private var rest = Data()

  init(in disk: Disk) throws {
    self.disk = disk
    descriptor = open(disk.directory + "/plain", O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw WorkNotDone("no file can be made in \(disk.directory)") }
  }

  deinit { close(descriptor) }

  /// Writes by one call what a journal writes on the way home, and flushes it.
  func write(_ transition: Transition) throws {
    let isWritten = write(transition.home)
    #if canImport(Darwin)
      let isFlushed = fsync(descriptor) == 0
    #else
      let isFlushed = fdatasync(descriptor) == 0
    #endif
    guard isWritten, isFlushed else { throw WorkNotDone("the plain file cannot be written") }
    rest = transition.open
  }

  /// Writes what a journal writes on the way back.
  func writeRest() throws {
    guard write(rest) else { throw WorkNotDone("the plain file cannot be written") }
  }

  private func write(_ data: Data) -> Bool {
    data.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) } == data.count
  }
}

/// An application that goes home and comes back.
private final class JournalSubject: @unchecked Sendable {
  /// What is written of it.
  enum Way {
    case nothing
    case journal
    /// By one call, and flushed, where the journal flushes: another one's bytes.
    case plain(() -> Transition)
  }

  @MainActor private final class Delegate: ApplicationDelegate {}

  private let way: Way
  private let disk: Disk
  private let path: String
  // Touched on the main actor alone, which is the benchmark's thread.
  private var application: Application?
  private var reading: FileHandle?
  private var file: PlainFile?
  private var observation: ObserverToken?
  private var elapsed = Duration.zero
  /// What the last way home and back has written.
  private(set) var written = Transition()

  init(_ way: Way, in disk: Disk) throws {
    (self.way, self.disk) = (way, disk)
    path = disk.directory + "/journal.jsonl"
  }

  /// Goes home, and comes back in time that does not count; the microseconds that it took.
  func goHome() throws -> Double {
    _ = try MainActorWork.time { [self] in
      let application = try await launched()
      let start = ContinuousClock.now
      await application.handle(.home)
      elapsed = start.duration(to: .now)
      written.home = try added()
      await application.handle(.open)
      written.open = try added()
      try file?.writeRest()
    }
    return elapsed.nanoseconds / 1_000
  }

  @MainActor private func launched() async throws -> Application {
    if let application { return application }
    let application = Application(delegate: Delegate())
    self.application = application
    switch way {
    case .nothing: break
    case .journal:
      var configuration = Journal.Configuration()
      configuration.maximumSize = nil
      let journal = Journal(at: path, of: application, configuration: configuration)
      if let failure = journal.failure { throw failure }
      reading = FileHandle(forReadingAtPath: path)
    case .plain(let transition):
      let file = try PlainFile(in: disk)
      self.file = file
      observation = application.observe { event in
        guard let record = event.record else { return }
        if record.name == Application.DidEnterBackground.name.rawValue { try? file.write(transition()) }
      }
    }
    await application.handle(.launch)
    _ = try added()
    return application
  }

  /// What the journal has written since this was last called.
  private func added() throws -> Data { try reading?.readToEnd() ?? Data() }
}
