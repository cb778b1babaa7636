import AppLifecycle
import BenchmarkHarness
import Foundation
import PubSub
import SavedState

extension Section {
  /// Saves a value, beside the same value encoded, written, flushed and renamed by hand; in turn, on the same disk.
  ///
  /// By hand the same is done on a queue that the main actor awaits, because a save leaves the main actor free, too. What
  /// the same calls take on the main actor itself stands beside it.
  ///
  /// Each size has a section of its own, because a large save leaves cold caches to a small one.
  static func saving(_ scale: Scale) -> Section { saving("saving", "A save", scale, Row.small, 1) }

  /// The same with a megabyte.
  static func savingMore(_ scale: Scale) -> Section { saving("saving-more", "A larger save", scale, Row.middle, 1_000) }

  private static func saving(
    _ name: String, _ title: String, _ scale: Scale, _ row: String, _ paragraphs: Int
  ) -> Section {
    section(name, "\(title), µs by the clock", rounds: scale.isQuick ? 51 : 301, [row]) { disk in
      let (ours, plain) = (try SavingSubject(paragraphs, in: disk), try PlainSaver(paragraphs, in: disk))
      return [
        Contestant(Column.ours, row: row) { try ours.save() },
        Contestant(Column.plain, row: row) { try plain.saveOnQueue() },
        Contestant(Column.blocking, row: row) { try plain.save() },
      ]
    }
  }

  /// The same with what is so large that the main actor must not wait for it, and how long it does.
  static func savingMuch(_ scale: Scale) -> Section {
    let blocked = Judgement(Row.turn, "× the save", .atMost, 0.1, aim: 0.02) {
      $0.ratio(Row.turn, Column.ours, toRow: Row.large, Column.ours)
    }
    return section(
      "saving-much", "A large save, µs by the clock", rounds: scale.isQuick ? 5 : 15, [Row.large], also: [blocked]
    ) { disk in
      let (ours, plain) = (try SavingSubject(50_000, in: disk), try PlainSaver(50_000, in: disk))
      return [
        Contestant(Column.ours) { [(Row.large, try ours.save()), (Row.turn, ours.longestTurn)] },
        Contestant(Column.plain, row: Row.large) { try plain.saveOnQueue() },
        Contestant(Column.blocking, row: Row.large) { try plain.save() },
      ]
    }
  }

  /// Restores a megabyte, beside a plain read and the decoder.
  static func restoring(_ scale: Scale) -> Section {
    Section(
      name: "restoring", title: "A restoration, µs by the clock", rounds: scale.isQuick ? 51 : 301,
      judgements: [
        Judgement(Row.restoration, "× \(Column.plain)", .atMost, 1.1) {
          $0.ratio(Row.restoration, Column.ours, to: Column.plain)
        }
      ]
    ) {
      let disk = try Disk.anywhere()
      let (ours, plain) = (try RestoringSubject(1_000, in: disk), try PlainSaver(1_000, in: disk))
      _ = try plain.save()
      return [
        Contestant(Column.ours, row: Row.restoration) { try ours.restore() },
        Contestant(Column.plain, row: Row.restoration) { try plain.restore() },
      ]
    }
  }

  private static func section(
    _ name: String, _ title: String, rounds: Int, _ rows: [String], also: [Judgement] = [],
    _ contestants: @escaping (Disk) throws -> [Contestant]
  ) -> Section {
    Section(
      name: name, title: title, rounds: rounds,
      judgements: rows.map { row in
        Judgement(row, "× \(Column.plain)", .atMost, 1.2) { $0.ratio(row, Column.ours, to: Column.plain) }
      } + also,
      note: { $0.rows.isEmpty ? "Not measured: no disk was found; TMPDIR may name a directory on one." : nil }
    ) {
      guard let disk = Disk.find() else { return [] }
      return try contestants(disk)
    }
  }
}

private enum Row {
  static let small = "1 KB"
  static let middle = "1 MB"
  static let large = "50 MB"
  static let turn = "50 MB, the main actor's longest turn"
  static let restoration = "1 MB"
}

extension Column {
  /// The same coder and the same calls of the system, by hand.
  fileprivate static let plain = "by hand"
  /// The same, while the main actor waits for the disk.
  fileprivate static let blocking = "main actor blocked"
}

/// What is saved: paragraphs of a thousand bytes.
private struct Manuscript: Codable, Sendable, Equatable {
  var edition = 0
  var paragraphs: [String]

  init(_ count: Int) {
    paragraphs = (0..<count).map { number in
      let words = "paragraph \(number) of a long text, "
      return String(String(repeating: words, count: 1 + 1_000 / words.utf8.count).prefix(990))
    }
  }
}

/// An application that saves a manuscript.
private final class SavingSubject: @unchecked Sendable {
  // Touched on the main actor alone, which is the benchmark's thread.
  private let disk: Disk
  private let count: Int
  private var application: Application?
  private var manuscript: SavedValue<Manuscript>?
  private var elapsed = Duration.zero
  /// The longest time, in microseconds, for which the last save kept the main actor, with a change of the value in it.
  private(set) var longestTurn = 0.0

  init(_ count: Int, in disk: Disk) throws { (self.count, self.disk) = (count, disk) }

  /// Changes the value and saves it; the microseconds that the save took.
  func save() throws -> Double {
    _ = try MainActorWork.time { [self] in
      let (application, manuscript) = try await launched()
      manuscript.value.edition += 1
      let start = ContinuousClock.now
      try await application.savedState.save()
      elapsed = start.duration(to: .now)
      if count >= 50_000 { longestTurn = try await turnDuringSave(of: application, manuscript) }
    }
    return elapsed.nanoseconds / 1_000
  }

  @MainActor private func launched() async throws -> (Application, SavedValue<Manuscript>) {
    if let application, let manuscript { return (application, manuscript) }
    let application = StateDelegate.application(in: "\(disk.directory)/ours-\(count)")
    let manuscript = try application.savedState.value("manuscript", default: Manuscript(count))
    await application.handle(.launch)
    (self.application, self.manuscript) = (application, manuscript)
    return (application, manuscript)
  }

  @MainActor private func turnDuringSave(
    of application: Application, _ manuscript: SavedValue<Manuscript>
  ) async throws -> Double {
    manuscript.value.edition += 1
    var isSaved = false
    let save = Task { @MainActor in
      try await application.savedState.save()
      isSaved = true
    }
    var longest = Duration.zero
    var turns = 0
    while !isSaved {
      let start = ContinuousClock.now
      await Task.yield()
      turns += 1
      // The save has taken the value, so this copies it.
      if turns == 10 { manuscript.value.paragraphs[0] = "changed \(manuscript.value.edition)" }
      longest = max(longest, start.duration(to: .now))
    }
    try await save.value
    guard turns > 10 else { throw WorkNotDone("the main actor had no turn while the state was saved") }
    return longest.nanoseconds / 1_000
  }
}

/// Applications that restore a manuscript, one after another.
private final class RestoringSubject: @unchecked Sendable {
  private let disk: Disk
  private let expected: Manuscript
  private var elapsed = Duration.zero
  private var directory: String { "\(disk.directory)/restored" }

  init(_ count: Int, in disk: Disk) throws {
    (self.disk, expected) = (disk, Manuscript(count))
    _ = try MainActorWork.time { [self] in
      let application = StateDelegate.application(in: directory)
      let value = try application.savedState.value("manuscript", default: Manuscript(0))
      await application.handle(.launch)
      value.value = expected
      try await application.savedState.save()
      await application.handle(.terminate)
    }
  }

  /// Restores it in an application that has just been launched; the microseconds that it took.
  func restore() throws -> Double {
    _ = try MainActorWork.time { [self] in
      let application = StateDelegate.application(in: directory)
      await application.handle(.launch)
      let start = ContinuousClock.now
      let value = try application.savedState.value("manuscript", default: Manuscript(0))
      elapsed = start.duration(to: .now)
      guard value.value == expected else { throw WorkNotDone("the manuscript was not restored") }
      await application.handle(.terminate)
    }
    return elapsed.nanoseconds / 1_000
  }
}

@MainActor private final class StateDelegate: SavedStateDelegate {
  /// Where the next application that is made keeps its state.
  private static var directory = ""
  var savedStateConfiguration: SavedState.Configuration { .init(program: "benchmark", directory: Self.directory) }

  /// Makes an application with a state of its own.
  static func application(in directory: String) -> Application {
    self.directory = directory
    return Application(delegate: StateDelegate())
  }
}

/// The same coder and calls as plainly as can be.
private final class PlainSaver: @unchecked Sendable {
  // Touched by one thread at a time.
  private var manuscript: Manuscript
  private let disk: Disk
  private let path: String
  private let queue = DispatchQueue(label: "plain saver")
  private var elapsed = Duration.zero

  init(_ count: Int, in disk: Disk) throws {
    (self.disk, manuscript) = (disk, Manuscript(count))
    let directory = "\(disk.directory)/plain-\(count)-\(UUID().uuidString)"
    guard mkdir(directory, 0o700) == 0 else { throw WorkNotDone("no directory can be made in \(disk.directory)") }
    path = directory + "/state"
  }

  /// Changes the value and saves it on the queue, which the main actor awaits; the microseconds until it goes on.
  func saveOnQueue() throws -> Double {
    _ = try MainActorWork.time { [self] in
      let start = ContinuousClock.now
      try await withCheckedThrowingContinuation { continuation in
        queue.async { [self] in continuation.resume(with: Result { _ = try save() }) }
      }
      elapsed = start.duration(to: .now)
    }
    return elapsed.nanoseconds / 1_000
  }

  /// Changes the value and saves it; the microseconds that the save took.
  func save() throws -> Double {
    manuscript.edition += 1
    let start = ContinuousClock.now
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    let data = try encoder.encode(manuscript)
    let descriptor = open(path + ".new", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    var isWritten = descriptor >= 0
    var rest = data[...]
    while isWritten, !rest.isEmpty {
      let count = rest.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
      isWritten = count > 0
      rest = rest.dropFirst(count)
    }
    isWritten = isWritten && Self.flush(descriptor) && close(descriptor) == 0 && rename(path + ".new", path) == 0
    let directory = open((path as NSString).deletingLastPathComponent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    isWritten = isWritten && fsync(directory) == 0
    close(directory)
    guard isWritten else { throw WorkNotDone("the plain file cannot be written") }
    return start.duration(to: .now).nanoseconds / 1_000
  }

  /// Reads what was saved; the microseconds that it took.
  func restore() throws -> Double {
    let start = ContinuousClock.now
    let restored = try JSONDecoder().decode(Manuscript.self, from: Data(contentsOf: URL(filePath: path)))
    let elapsed = start.duration(to: .now)
    guard restored == manuscript else { throw WorkNotDone("the manuscript was not restored") }
    return elapsed.nanoseconds / 1_000
  }

  private static func flush(_ descriptor: Int32) -> Bool {
    #if canImport(Darwin)
      fsync(descriptor) == 0
    #else
      fdatasync(descriptor) == 0
    #endif
  }
}

extension Section {
  /// Goes home and comes back with saved state that has not changed, and without any.
  static func unchangedState(_ scale: Scale) -> Section {
    Section(
      name: "unchanged-state", title: "Home and back with unchanged saved state, µs of the processor for both",
      rounds: scale.rounds * 5,
      judgements: [
        Judgement(HomeRow.unchanged, "× \(Column.without)", .atMost, 1.02) {
          $0.ratio(HomeRow.unchanged, Column.ours, to: Column.without)
        }
      ]
    ) {
      let disk = try Disk.anywhere()
      let cycles = scale.isQuick ? 20 : 100
      return [(Column.ours, true), (Column.without, false)].map { column, hasState in
        let subject = HomeSubject(hasState ? "\(disk.directory)/home" : nil, disk)
        return Contestant(column, row: HomeRow.unchanged) {
          try subject.cycle(cycles).nanoseconds / 1_000 / Double(cycles)
        }
      }
    }
  }
}

private enum HomeRow {
  static let unchanged = "20 values that do not change"
}

extension Column {
  /// The same without saved state.
  fileprivate static let without = "without"
}

/// An application that goes home and comes back, with a hundred subscribers and twenty resources.
private final class HomeSubject: @unchecked Sendable {
  private let directory: String?
  private let disk: Disk
  private var application: Application?
  private let bank = CounterBank(100)
  private var held = 0

  @MainActor private final class Bare: ApplicationDelegate {}

  init(_ directory: String?, _ disk: Disk) { (self.directory, self.disk) = (directory, disk) }

  func cycle(_ times: Int) throws -> Duration {
    if application == nil { _ = try MainActorWork.time { [self] in try await launch() } }
    let before = bank.total
    // All of it is the work of this thread.
    let elapsed = try Stopwatch.threadTime {
      _ = try MainActorWork.time { [self] in
        for _ in 0..<times {
          await application?.handle(.home)
          await application?.handle(.open)
          while held < 20 { await Task.yield() }
        }
      }
    }
    try WorkNotDone.check(bank.total - before, expected: 2 * times * bank.counters.count, "home and back")
    return elapsed
  }

  @MainActor private func launch() async throws {
    let application = directory.map { StateDelegate.application(in: $0) } ?? Application(delegate: Bare())
    self.application = application
    if directory != nil {
      for number in 0..<20 { _ = try application.savedState.value("value \(number)", default: number) }
    }
    for counter in bank.counters {
      application.bus.subscribe(to: Application.DidEnterBackground.self, for: counter) { owner, _ in owner.total += 1 }
      application.bus.subscribe(to: Application.DidBecomeActive.self, for: counter) { owner, _ in owner.total += 1 }
    }
    for number in 0..<20 {
      try application.manage("\(number)", while: .foreground) {
        self.held += 1
      } release: { _ in
        self.held -= 1
      }
    }
    await application.handle(.launch)
    while held < 20 { await Task.yield() }
  }
}
