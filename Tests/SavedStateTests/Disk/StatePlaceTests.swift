import AppLifecycle
import Foundation
import LifecycleJournal
import TestFiles
import TestTraits
import Testing

@testable import SavedState

/// What may stand in the places of the files, and where these places are.
@MainActor @Suite(.timeLimit(.hang)) struct StatePlaceTests {
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  private func status(_ path: String) throws -> FileStatus { try SystemFiles().status(ofName: path) }

  /// The names of the files of a state, of which each may be something else.
  private nonisolated static let names = ["saved-state", "saved-state.previous", "saved-state.lock"]

  /// A process finds no state of its own there, and replaces nothing.
  private func checkThatNothingIsSaved(_ name: String, user: UInt32 = SystemFiles.user) async throws {
    let path = directory.file(name)
    let before = try status(path)
    let life = try await Life.launched(in: directory.path, user: user)
    #expect(life.application.state == .active)
    #expect(await !life.save(2), "\(name)")
    #expect(life.state.problem != nil && "\(life.errors)".contains(path), "\(name): \(life.errors)")
    await life.end()
    #expect(try status(path) == before, "\(name)")
  }

  @Test(arguments: names) func `a directory is left alone`(name: String) async throws {
    try FileManager.default.createDirectory(atPath: directory.file(name), withIntermediateDirectories: false)
    try await checkThatNothingIsSaved(name)
  }

  @Test(arguments: names) func `a link to a file is not followed`(name: String) async throws {
    let target = directory.file("target")
    try write(Life.file(1), to: target)
    try FileManager.default.createSymbolicLink(atPath: directory.file(name), withDestinationPath: target)
    try await checkThatNothingIsSaved(name)
    #expect(bytes(of: target) == (try Life.file(1)))
  }

  @Test(arguments: names) func `a link that leads to nothing makes no file there`(name: String) async throws {
    let target = directory.file("target")
    try FileManager.default.createSymbolicLink(atPath: directory.file(name), withDestinationPath: target)
    try await checkThatNothingIsSaved(name)
    #expect(!FileManager.default.fileExists(atPath: target))
  }

  @Test(arguments: names) func `a named pipe does not block`(name: String) async throws {
    #expect(mkfifo(directory.file(name), 0o600) == 0)
    try await checkThatNothingIsSaved(name)
  }

  @Test(arguments: names) func `a file of another user is neither read nor replaced`(name: String) async throws {
    try write(name.hasSuffix("lock") ? [] : Life.file(1), to: directory.file(name))
    guard chown(directory.file(name), 4_711, 4_711) == 0 else {
      return print("skipped: a file cannot be given to another user here: \(String(cString: strerror(errno)))")
    }
    try await checkThatNothingIsSaved(name)
  }

  @Test func `what stands in the place of the new file is removed if it can be`() async throws {
    let target = directory.file("target")
    try write("kept", to: target)
    let new = directory.file("saved-state.new")
    try FileManager.default.createSymbolicLink(atPath: new, withDestinationPath: target)
    let life = try await Life.launched(in: directory.path)
    #expect(await life.save(1))
    #expect(text(of: target) == "kept" && !directory.names.contains("saved-state.new"))
    try FileManager.default.createDirectory(atPath: new, withIntermediateDirectories: false)
    #expect(await !life.save(2))
    #expect("\(life.errors)".contains(new))
    try FileManager.default.removeItem(atPath: new)
    #expect(await life.save(3))
    await life.end()
  }

  // MARK: Directories and modes

  @Test func `directories that are missing are made for the user alone, and so is each file`() async throws {
    let home = directory.file("home")
    let place = try #require(StatePlace.directory(of: "editor", variable: { $0 == "HOME" ? home : nil }))
    let life = try await Life.launched(in: place)
    #expect(await life.saves(1, 2) == [true, true])
    await life.end()
    var path = place
    while path != directory.path {
      #expect(try status(path).mode == 0o700, "\(path)")
      path = JournalFiles.directory(of: path)
    }
    for name in Self.names { #expect(try status("\(place)/\(name)").mode == 0o600, "\(name)") }
    // A file that everybody could read is replaced by one that only the user can.
    chmod("\(place)/saved-state", 0o644)
    let next = try await Life.launched(in: place)
    #expect(next.number == 2)
    #expect(await next.save(3))
    #expect(try status("\(place)/saved-state").mode == 0o600)
    await next.end()
  }

  @Test(arguments: [EIO, EACCES, EINVAL])
  func `a save also flushes the names of new directories, where that is possible`(error: Int32) async throws {
    let (place, parent) = (directory.file("parent/place"), directory.file("parent"))
    // A process makes them, and is killed before it saves.
    let killed = StateFiles(in: place, .init())
    _ = try killed.open()
    killed.close()
    let fails = Switch(true)
    let files = FaultyFiles {
      $0.name == "flushDirectory" && $0.path == parent && fails.isOn ? .fails(error) : .works
    }
    let life = try await Life.launched(in: place, files)
    #expect(await life.save(1) == (error != EIO))
    fails.isOn = false
    #expect(await life.save(2))
    let flushed = files.calls.filter { $0.name == "flushDirectory" }.map { $0.path ?? "" }
    #expect(Set(flushed).isSuperset(of: [place, parent, directory.path]), "\(flushed)")
    #expect(await life.save(3))
    // Once is enough.
    #expect(files.calls.filter { $0.name == "flushDirectory" }.map(\.path) == flushed + [place])
    await life.end()
  }

  @Test func `no directory above one of another user is flushed, as the program has not made that`() async throws {
    let (place, parent) = (directory.file("parent/place"), directory.file("parent"))
    try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
    guard chown(parent, 4_711, 4_711) == 0 else {
      return print("skipped: a directory cannot be given to another user here: \(String(cString: strerror(errno)))")
    }
    let files = FaultyFiles { _ in .works }
    let life = try await Life.launched(in: place, files)
    #expect(await life.save(1))
    await life.end()
    #expect(files.calls.filter { $0.name == "flushDirectory" }.map(\.path) == [place, parent])
  }

  @Test func `a directory that was removed is made again`() async throws {
    let place = directory.file("place")
    let life = try await Life.launched(in: place)
    #expect(await life.save(1))
    try FileManager.default.removeItem(atPath: place)
    #expect(await life.save(2))
    let other = try await Life.launched(in: place)
    #expect(other.outcome == .nothingThere && other.state.problem == nil)
    await other.end()
    await life.end()
    let next = try await Life.launched(in: place)
    #expect(next.number == 2)
    await next.end()
  }

  #if os(Linux)
    private nonisolated static let environments: [([String: String], String?)] = [
      ([:], nil), (["HOME": "/h"], "/h/.local/state/p"), (["HOME": "h"], nil), (["HOME": ""], nil),
      (["XDG_STATE_HOME": "/x"], "/x/p"), (["XDG_STATE_HOME": "x", "HOME": "/h"], "/h/.local/state/p"),
      (["XDG_STATE_HOME": "", "HOME": "/h"], "/h/.local/state/p"), (["XDG_STATE_HOME": "x"], nil),
      (["XDG_STATE_HOME": "/x", "HOME": "/h"], "/x/p"),
      (["STATE_DIRECTORY": "/var/lib/shop", "HOME": "/h"], "/var/lib/shop"),
      (["STATE_DIRECTORY": "/var/lib/shop:/var/lib/till", "XDG_STATE_HOME": "/x"], "/var/lib/shop"),
      (["STATE_DIRECTORY": "shop", "HOME": "/h"], "/h/.local/state/p"), (["STATE_DIRECTORY": "", "HOME": "h"], nil),
    ]

    @Test(arguments: environments)
    func `the environment names the directory, by absolute paths alone`(variables: [String: String], expected: String?)
    {
      #expect(StatePlace.directory(of: "p", variable: { variables[$0] }) == expected)
    }
  #endif

  @Test func `without a directory the program runs, and is told`() async throws {
    let life = try Life(NoStorage())
    await life.application.handle(.launch)
    #expect(life.application.state == .active && !life.errors.isEmpty)
    #expect(await !life.save(1))
    #expect("\(life.state.problem, default: "")".contains("HOME names"))
    await life.end()
    #expect(life.application.state == .notRunning)
  }

  // MARK: The program's name

  @Test(
    arguments: [
      ("/usr/bin/notes", "notes"), ("notes", "notes"), ("../bin/notes", "notes"), ("notes/", "notes"),
      ("", "real"), ("/", "real"), ("..", "real"), ("/usr/..", "real"), (".", "real"),
    ])
  func `the program's name is that of its start, or of its file where that is none`(path: String, expected: String) {
    #expect(RunFacts.program(startedAs: path, executable: { "/bin/real" }) == expected)
    #expect(expected != "real" || RunFacts.program(startedAs: path, executable: { nil }) == "unnamed")
  }

  @Test func `the system tells the file of the program`() throws {
    let file = try #require(RunFacts.executable())
    #expect(FileManager.default.isExecutableFile(atPath: file))
    #expect(RunFacts.program(startedAs: "") == URL(filePath: file).lastPathComponent)
  }

  private final class Unnamed: SavedStateDelegate {
    var savedStateConfiguration: SavedState.Configuration { .init(program: "") }
  }

  @Test func `a program with an empty name has the name of its start`() {
    let application = Application(delegate: Unnamed())
    #expect(application.savedState.program == RunFacts.ofThisProcess().program && application.savedState.program != "")
  }

  // MARK: Sizes

  @Test func `a file that is larger than the limit is put beside unread`() async throws {
    try directory.keep(current: [], previous: Life.file(1))
    #expect(truncate(directory.file("saved-state"), 1 << 30) == 0)
    let life = try await Life.launched(in: directory.path)
    #expect(life.number == 1 && life.errors.count == 1)
    #expect(try status(directory.file("saved-state.damaged")).size == 1 << 30)
    await life.end()
  }

  @Test func `a state that no process would read again is not written`() async throws {
    let life = try await Life.launched(in: directory.path, SystemFiles(), .init(largestFile: 2_000))
    #expect(await life.save(1))
    #expect(await !life.save(2, length: 2_000))
    #expect("\(life.errors)".contains("more than 2000"))
    #expect(await life.save(3))
    await life.end()
  }

  /// A write beyond the limit would end the process by a signal.
  @Test func `a state that is larger than the process may write is not written`() async throws {
    let life = try await Life.launched(in: directory.path, FaultyFiles(limit: 2_000) { _ in .works })
    #expect(await life.save(1))
    #expect(await !life.save(2, length: 2_000))
    #expect(await life.save(3))
    #expect("\(life.errors)".contains("more than 2000"))
    await life.end()
  }

  @Test(.longRunning) func `a hundred thousand keys are found again`() throws {
    let entries = (0..<100_000).map { number in
      StateDocument.Entry(
        name: .init(session: number % 3 == 0 ? "window \(number % 7)" : nil, key: "key \(number) ä\"\n"),
        version: 1 + number % 2, isKept: number % 5 == 0, json: Data("\(number)".utf8))
    }
    let document = StateDocument(program: "p", sessions: ["window 1"], entries: entries)
    let storage = StateFiles(in: directory.path, .init())
    _ = try storage.open()
    try storage.replace(with: document.encoded())
    let bytes = try #require(try storage.read(.current))
    #expect(try StateDocument(bytes, of: "p") == document)
    let contents = SavedContents(try StateDocument(bytes, of: "p"))
    #expect(contents.names.count == 100_000 && contents.document(of: "p") == document)
  }
}
