import AppLifecycle
import Foundation
import LifecycleJournal
import Scheduling
import TestFiles
import TestTraits
import Testing

@testable import SavedState

/// Processes of one program that run at the same time, and what a process notes for the next.
@MainActor @Suite(.timeLimit(.hang)) struct StateLockTests {
  private let directory: TemporaryDirectory
  private nonisolated static let reading = SavedState.Configuration(secondProcess: .readsOnly)

  init() throws { directory = try TemporaryDirectory() }

  @Test func `each of several processes has a state of its own, and the next takes that of the first again`()
    async throws
  {
    let first = try await Life.launched(in: directory.path)
    #expect(await first.save(1))
    let second = try await Life.launched(in: directory.path)
    #expect(second.outcome == .nothingThere)
    let third = try await Life.launched(in: directory.path)
    #expect(await second.save(2))
    #expect(await third.save(3))
    #expect(await first.save(11))
    #expect(
      directory.names.filter { !$0.contains("lock") && !$0.contains("previous") }
        == ["saved-state", "saved-state.2", "saved-state.3"])
    await second.end()
    let fourth = try await Life.launched(in: directory.path)
    #expect(fourth.number == 2)
    await first.end()
    let fifth = try await Life.launched(in: directory.path)
    #expect(fifth.number == 11)
    for life in [third, fourth, fifth] { await life.end() }
  }

  @Test(arguments: [true, false]) func `a fatal signal that the process survives is not blamed on its state`(
    settles: Bool
  ) async throws {
    let process = StateFiles(in: directory.path, .init())
    _ = try process.open()
    // A process can watch few files for a crash, and other tests have theirs watched for a while.
    repeat {
      process.note(.restored)
      await Task.yield()
    } while process.state.withLock { $0.crashLine } == nil
    try appendCrash()
    if settles { process.note(.settled) } else { process.close() }
    process.close()
    let next = StateFiles(in: directory.path, .init())
    #expect(try !next.open().hasCrashedAfterRestoring)
    next.close()
  }

  @Test(arguments: ["write", "statusOf", "truncate"], [true, false])
  func `a fatal signal that the process survives is not blamed on its state if a call fails`(
    name: String, settles: Bool
  ) throws {
    let fails = Switch(false)
    let files = FaultyFiles { $0.name == name && fails.isOn ? .fails(28) : .works }
    let process = StateFiles(in: directory.path, .init(), files: files)
    _ = try process.open()
    process.state.withLock { $0.crashLine = 7 }
    try appendCrash()
    fails.isOn = true
    if settles { process.note(.settled) }
    process.close()
    #expect(files.disarmed == [7])
    #expect(try !StateFiles(in: directory.path, .init()).open().hasCrashedAfterRestoring)
  }

  /// Writes what the handler of a fatal signal does.
  private func appendCrash() throws {
    let file = try #require(FileHandle(forWritingAtPath: directory.file("saved-state.lock")))
    try file.seekToEnd()
    try file.write(contentsOf: Data(Self.crash.utf8))
    try file.close()
  }

  @Test func `a second process that only reads finds whole states, and saves nothing`() async throws {
    let first = try await Life.launched(in: directory.path)
    #expect(await first.saves(1, 2) == [true, true])
    let second = try await Life.launched(in: directory.path, SystemFiles(), Self.reading)
    #expect(second.number == 2 && second.outcome == .restored)
    let names = directory.names
    #expect(await !second.save(3))
    second.state.saveAtOnce()
    #expect(
      second.state.problem == nil)
    await second.end()
    #expect(directory.names == names)
    #expect(bytes(of: directory.file("saved-state.previous")).isEmpty == false)
    await first.end()
    let third = try await Life.launched(in: directory.path, SystemFiles(), Self.reading)
    #expect(third.number == 2)
    #expect(await third.save(4))
    await third.end()
  }

  @Test func `a process that only reads leaves damaged files where they are, and is told`() async throws {
    let first = try await Life.launched(in: directory.path)
    try directory.keep(current: Array("damage".utf8), previous: Life.file(1))
    let second = try await Life.launched(in: directory.path, SystemFiles(), Self.reading)
    #expect(second.number == 1 && !second.errors.isEmpty)
    #expect(text(of: directory.file("saved-state")) == "damage")
    await second.end()
    try directory.keep(current: Array("damage".utf8), previous: Array("damage".utf8))
    let third = try await Life.launched(in: directory.path, SystemFiles(), Self.reading)
    guard case .unreadable = third.outcome else {
      Issue.record("\(String(describing: third.outcome))")
      return
    }
    #expect(third.errors.count == 2)
    #expect(text(of: directory.file("saved-state")) == "damage")
    await third.end()
    await first.end()
  }

  /// The writer renames the file between two calls of the reader.
  @Test func `a process that reads while another one saves finds the state before or after`() throws {
    for name in ["statusOfName", "openForReading", "statusOf", "read"] {
      let directory = try TemporaryDirectory()
      let writer = StateFiles(in: directory.path, .init())
      _ = try writer.open()
      try writer.replace(with: Life.file(1))
      try writer.replace(with: Life.file(2))
      let saves = Switch(true)
      let reader = StateFiles(
        in: directory.path, Self.reading,
        files: FaultyFiles { call in
          guard call.name == name, call.path?.hasSuffix("saved-state") ?? true, saves.isOn else { return .works }
          saves.isOn = false
          try? writer.replace(with: (try? Life.file(3)) ?? [])
          return .works
        })
      _ = try reader.open()
      let bytes = try #require(try reader.read(.current))
      #expect(try [Life.file(2), Life.file(3)].contains(bytes), "\(name)")
      #expect(!saves.isOn)
    }
  }

  @Test func `between two renames a process that reads finds the generation before`() throws {
    try directory.keep(current: Life.file(1))
    let vanished = FaultyFiles { call in
      // It stood there a moment ago.
      call.name == "openForReading" && call.path?.hasSuffix("saved-state") == true ? .fails(2) : .works
    }
    #expect(try StateFiles(in: directory.path, .init(), files: vanished).read(.current) == nil)
  }

  @Test func `a process that could not take the lock takes no other state than the one that it has restored`()
    async throws
  {
    try directory.keep(current: Life.file(1))
    let fails = Switch(true)
    let files = FaultyFiles { $0.name == "open" && fails.isOn ? .fails(28) : .works }
    let late = try await Life.launched(in: directory.path, files)
    #expect(late.number == 1)
    let other = try await Life.launched(in: directory.path)
    fails.isOn = false
    #expect(await !late.save(3))
    #expect("\(late.errors)".contains("another process writes it"))
    #expect(!directory.names.contains { $0.hasPrefix("saved-state.2") })
    await other.end()
    #expect(await late.save(4))
    await late.end()
  }

  /// The number of open files is at its limit, or the disk is full, as the second process begins.
  @Test func `a process that takes the lock late replaces no state that another one has saved meanwhile`() throws {
    let files = FaultyFiles { $0.name == "open" && $0.path?.hasSuffix(".2.lock") == true ? .fails(24) : .works }
    // Of no state, and of one that another process has left.
    for before in [nil, 1] as [Int?] {
      let first = StateFiles(in: directory.path, .init())
      _ = try first.open()
      let late = StateFiles(in: directory.path, .init(), files: files)
      #expect(throws: StateStorageError.self) { try late.open() }
      #expect(try late.read(.current) == before.map { try Life.file($0) })
      try first.replace(with: Life.file((before ?? 0) + 1))
      first.close()
      let last = bytes(of: directory.file("saved-state"))
      // Again and again, and the lock is left to others.
      for _ in 1...2 { #expect(throws: StateStorageError.self) { try late.replace(with: Life.file(3)) } }
      #expect(bytes(of: directory.file("saved-state")) == last)
      let next = StateFiles(in: directory.path, Self.reading)
      #expect(try next.open().mayReplace)
      next.close()
    }
  }

  @Test func `a process that takes the lock late sets nothing aside that another one has saved meanwhile`()
    async throws
  {
    try directory.keep(current: Life.file(1))
    let fails = Switch(true)
    let files = FaultyFiles { $0.name.hasPrefix("open") && fails.isOn ? .fails(24) : .works }
    let late = try await Life.launched(in: directory.path, files)
    let other = try await Life.launched(in: directory.path)
    #expect(await other.save(2))
    await other.end()
    fails.isOn = false
    #expect(await late.saves(3, 4) == [false, false])
    await late.end()
    let next = try await Life.launched(in: directory.path)
    #expect(next.number == 2)
    await next.end()
  }

  @Test func `a process whose lock was removed does not write beside another one`() async throws {
    let first = try await Life.launched(in: directory.path)
    #expect(await first.save(1))
    try SystemFiles().remove(directory.file("saved-state.lock"))
    let second = try await Life.launched(in: directory.path)
    #expect(second.number == 1)
    #expect(await second.save(2))
    #expect(await !first.save(3))
    await second.end()
    // Nor over what the other one has left.
    #expect(await !first.save(4))
    #expect("\(first.errors)".contains("another process has saved it meanwhile"))
    await first.end()
    let next = try await Life.launched(in: directory.path)
    #expect(next.number == 2)
    // If no other one has saved, the process goes on.
    try SystemFiles().remove(directory.file("saved-state.lock"))
    #expect(await next.save(5))
    await next.end()
  }

  @Test(arguments: [("flush", "saved-state.new"), ("statusOfName", "saved-state.unread")])
  func `the lock is held until a save that is under way has ended`(name: String, path: String) throws {
    try directory.keep(current: Life.file(1))
    let storage = Storage()
    let files = FaultyFiles { call in
      if call.name == name, call.path?.hasSuffix(path) ?? true {
        storage.files?.close()
        // Another process does not get it.
        storage.isFreeDuringSave = (try? StateFiles(in: storage.directory, Self.reading).open().mayReplace) ?? true
      }
      return .works
    }
    storage.directory = directory.path
    let saved = StateFiles(in: directory.path, .init(), files: files)
    storage.files = saved
    _ = try saved.open()
    let isSave = name == "flush"
    if isSave { try saved.replace(with: Life.file(2)) } else { _ = try saved.setAside(.current, as: .unread) }
    #expect(!storage.isFreeDuringSave)
    #expect(try StateFiles(in: directory.path, Self.reading).open().mayReplace)
    // What comes after the end is refused.
    #expect(throws: StateStorageError.self) { try saved.replace(with: Life.file(3)) }
    #expect(throws: StateStorageError.self) { try saved.setAside(.current, as: .unread) }
    #expect(bytes(of: directory.file(isSave ? "saved-state" : "saved-state.unread")) == (try Life.file(isSave ? 2 : 1)))
  }

  /// Another file may have the slot as soon as its watch has ended.
  @Test func `a process that settles while a save takes a new lock ends its watch for a crash once`() throws {
    let storage = Storage()
    let files = FaultyFiles { call in
      if call.name == "open" { storage.files?.note(.settled) }
      return .works
    }
    let saved = StateFiles(in: directory.path, .init(), files: files)
    _ = try saved.open()
    saved.state.withLock { $0.crashLine = 7 }
    storage.files = saved
    try SystemFiles().remove(directory.file("saved-state.lock"))
    try saved.replace(with: Life.file(1))
    #expect(files.disarmed == [7])
    saved.close()
  }

  private final class Storage: @unchecked Sendable {
    var files: StateFiles?
    var directory = ""
    var isFreeDuringSave = true
  }

  // MARK: Marks

  private nonisolated static let crash = "\n{\"journal\":\"crash\",\"t\":0.1,\"signal\":\"SIGSEGV\"}\n"

  private nonisolated static let marks: [(String, Bool)] = [
    (crash, true), ("settled\n\(crash)", true), ("\(crash)settled\n", false), ("\(crash)\(crash)", true),
    ("\(crash)settled\n\(crash)", true), ("\(crash.dropLast(3))", true), ("\(crash.dropLast(3))\nsettled\n", false),
    ("\(crash)settl", true), ("", false), ("settled\n", false), ("\0\0\0", false),
  ]

  @Test(arguments: marks)
  func `a crash counts until a process has dealt with it`(marks: String, hasCrashed: Bool) throws {
    try write(marks, to: directory.file("saved-state.lock"))
    let storage = StateFiles(in: directory.path, .init())
    #expect(try storage.open().hasCrashedAfterRestoring == hasCrashed)
    storage.note(.restored)
    storage.close()
    // It had no crash.
    #expect(try !StateFiles(in: directory.path, .init()).open().hasCrashedAfterRestoring)
  }

  /// More than is read of it: the last marks count, and the next process makes the file short.
  @Test(arguments: [true, false])
  func `a crash counts behind any number of older marks`(hasCrashed: Bool) throws {
    let lock = directory.file("saved-state.lock")
    let old = String(repeating: "\(Self.crash)settled\n", count: 2_000)
    try write(old + (hasCrashed ? Self.crash : ""), to: lock)
    #expect(bytes(of: lock).count > 65_536)
    let storage = StateFiles(in: directory.path, .init())
    #expect(try storage.open().hasCrashedAfterRestoring == hasCrashed)
    storage.note(.restored)
    storage.close()
    #expect(try !StateFiles(in: directory.path, .init()).open().hasCrashedAfterRestoring)
    #expect(bytes(of: lock).isEmpty)
  }

  @Test(arguments: ["write", "truncate"])
  func `marks that cannot be taken back in one way are in another`(name: String) throws {
    try write("restored\n" + Self.crash, to: directory.file("saved-state.lock"))
    let files = FaultyFiles { call in
      call.name == name && call.path?.hasSuffix("new") != true ? .fails(5) : .works
    }
    let storage = StateFiles(in: directory.path, .init(), files: files)
    #expect(try storage.open().hasCrashedAfterRestoring)
    try storage.replace(with: Life.file(1))
    storage.close()
    #expect(try !StateFiles(in: directory.path, .init()).open().hasCrashedAfterRestoring)
  }

  @Test func `a process in order leaves no marks, and removes many old ones`() throws {
    let lock = directory.file("saved-state.lock")
    try write(String(repeating: "\(Self.crash)settled\n", count: 50), to: lock)
    let storage = StateFiles(in: directory.path, .init())
    #expect(try !storage.open().hasCrashedAfterRestoring)
    storage.note(.restored)
    storage.note(.settled)
    storage.close()
    #expect(bytes(of: lock).isEmpty)
  }

  /// The disk may be full at the crash; the next process would crash again, and the one after it.
  @Test(arguments: [nil, 100] as [Int64?])
  func `room for the line of a crash is reserved as the lock is taken, within the limit on files`(limit: Int64?) throws
  {
    let files = FaultyFiles(limit: limit) { _ in .works }
    // More marks than are kept: to remove them also gives back the room.
    let lock = directory.file("saved-state.lock")
    try write(String(repeating: "\(Self.crash)settled\n", count: 100), to: lock)
    let storage = StateFiles(in: directory.path, .init(), files: files)
    _ = try storage.open()
    defer { storage.close() }
    #expect(files.calls.contains { $0.name == "reserve" } == (limit == nil))
    var status = stat()
    #expect(stat(lock, &status) == 0 && status.st_size == 0)
    guard limit == nil, (try? SystemFiles().reserve(1, from: 0, in: storage.state.withLock { $0.lock } ?? -1)) != nil
    else { return }
    #expect(status.st_blocks > 0)
  }

  /// Whenever the process dies that finds the crash, no later one restores what led to it, until another state is saved.
  @Test func `the state that led to a crash is put beside, whenever the process dies that does it`() async throws {
    for dying in 0..<60 {
      let directory = try TemporaryDirectory()
      try directory.keep(current: Life.file(2), previous: Life.file(1))
      try write("restored\n" + Self.crash, to: directory.file("saved-state.lock"))
      let files = FaultyFiles { $0.number == dying ? .dies(afterBytes: 0) : .works }
      let life = try await Life.launched(in: directory.path, files)
      files.die()
      await life.end()
      let next = try await Life.launched(in: directory.path)
      #expect(next.number == nil || next.number == 0, "call \(dying)")
      let aside = directory.names.filter { $0.contains("crashed") }
      #expect(aside == ["saved-state.crashed", "saved-state.crashed-2"], "call \(dying): \(directory.names)")
      #expect(await next.save(3))
      await next.end()
      let last = try await Life.launched(in: directory.path)
      #expect(last.number == 3 && last.outcome == .restored, "call \(dying)")
      await last.end()
    }
  }

  @Test func `the state that led to a crash is put beside before the next save if it could not be at first`()
    async throws
  {
    try directory.keep(current: Life.file(2), previous: Life.file(1))
    try write("restored\n" + Self.crash, to: directory.file("saved-state.lock"))
    let fails = Switch(true)
    let files = FaultyFiles { $0.name == "rename" && fails.isOn ? .fails(5) : .works }
    let life = try await Life.launched(in: directory.path, files)
    #expect(life.work.value.number == 0)
    #expect(await !life.save(3))
    fails.isOn = false
    #expect(await life.save(4))
    #expect(bytes(of: directory.file("saved-state.crashed")) == (try Life.file(2)))
    #expect(bytes(of: directory.file("saved-state.crashed-2")) == (try Life.file(1)))
    await life.end()
    let next = try await Life.launched(in: directory.path)
    #expect(next.number == 4)
    await next.end()
  }
}
