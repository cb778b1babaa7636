import AppLifecycle
import LifecycleJournal
import TestFiles
import TestTraits
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

@testable import SavedState

/// Whatever the disk does and whenever the program dies, a whole state is found, and none that was acknowledged is lost.
@MainActor @Suite(.timeLimit(.hang)) struct StateFaultTests {
  /// What a process has done until its end or its death.
  private struct Story {
    /// The number that it has restored.
    var restored: Int?
    /// The largest number that was acknowledged, and the last that it tried to save.
    var acknowledged = 1
    var tried = 1
    var refusals = 0
    var errors: [SavedStateError] = []
    var hasProblem = false
    var isEndOrderly = false
    /// Whether its last save was acknowledged.
    var recovers = false
  }

  /// A process restores the number 1, saves 2 to 4, and ends.
  private func story(in directory: TemporaryDirectory, _ files: FaultyFiles, saves: Int = 3) async throws -> Story {
    var story = Story()
    let life = try await Life.launched(in: directory.path, files)
    story.restored = life.number
    for number in 2..<(2 + saves) {
      story.tried = number
      story.recovers = await life.save(number)
      if story.recovers {
        story.acknowledged = number
      } else {
        story.refusals += 1
        #expect(life.state.problem != nil)
      }
    }
    story.hasProblem = life.state.problem != nil
    await life.end()
    story.errors = life.errors
    story.isEndOrderly = life.application.state == .notRunning
    return story
  }

  /// A directory in which a process has saved 0 and 1.
  private func begun() throws -> TemporaryDirectory {
    let directory = try TemporaryDirectory()
    try directory.keep(current: Life.file(1), previous: Life.file(0))
    return directory
  }

  private func callsOfStory() async throws -> Int {
    let files = FaultyFiles { _ in .works }
    let story = try await story(in: begun(), files)
    #expect(story.restored == 1 && story.acknowledged == 4 && story.errors == [])
    let names = Set(files.calls.map(\.name))
    #expect(names.isSuperset(of: ["open", "lock", "makeFile", "write", "flush", "rename", "remove", "flushDirectory"]))
    return files.calls.count
  }

  /// The number that the next process finds; nil for a mixture.
  private func found(in directory: TemporaryDirectory) async throws -> Int? {
    let life = try await Life.launched(in: directory.path)
    let number = life.number
    #expect(await life.save(100))
    await life.end()
    let next = try await Life.launched(in: directory.path)
    #expect(next.number == 100 && next.outcome == .restored)
    await next.end()
    return number
  }

  @Test(.longRunning, arguments: [ENOSPC, EIO, EROFS, EACCES, ENOENT, EDQUOT])
  func `whichever call fails once, the program goes on, is told, and the next save works`(error: Int32) async throws {
    for failing in 0..<(try await callsOfStory()) {
      let directory = try begun()
      let files = FaultyFiles { $0.number == failing ? .fails(error) : .works }
      let story = try await story(in: directory, files)
      let place = "call \(failing), \(files.calls[failing]): \(story)"
      #expect(story.isEndOrderly, "\(place)")
      #expect(story.refusals <= 1 && (story.refusals == 0 || !story.errors.isEmpty), "\(place)")
      #expect(!story.recovers || !story.hasProblem, "\(place)")
      // What could not be restored is not lost, and the program knows. A file that is said not to exist is not looked for.
      if story.restored != 1, error != ENOENT {
        #expect(story.restored == 0 && !story.errors.isEmpty, "\(place)")
        #expect(directory.names.contains("saved-state.unread"), "\(place): \(directory.names)")
      }
      let found = try await found(in: directory)
      // It ends with a save of its own if the last one failed.
      #expect(found.map { (story.acknowledged...story.tried).contains($0) } == true, "\(place): \(found ?? -1)")
      #expect(!directory.names.contains("saved-state.new"), "\(place)")
    }
  }

  @Test(.longRunning, arguments: [0, 1, 70])
  func `a write that does a part of its work and then fails leaves the state as it was`(written: Int) async throws {
    for failing in 0..<(try await callsOfStory()) {
      let directory = try begun()
      let files = FaultyFiles { call in
        call.number == failing && call.name == "write" ? .stopsAfter(bytes: written, ENOSPC) : .works
      }
      let story = try await story(in: directory, files)
      let place = "call \(failing), \(files.calls[failing]): \(story)"
      // A write of nothing counts as a full disk, and the one after it fails, too.
      #expect(story.refusals <= (written == 0 ? 2 : 1), "\(place)")
      #expect(story.refusals == 0 || story.errors.contains { "\($0)".contains("No space left") }, "\(place)")
      #expect(try await found(in: directory) == 4, "\(place)")
    }
  }

  @Test func `writes that each take a byte or two save all`() async throws {
    let directory = try begun()
    let files = FaultyFiles { _ in .works }
    let life = try Life(StateFiles(in: directory.path, .init(), files: ShortWrites(files)))
    await life.application.handle(.launch)
    #expect(await life.save(2))
    #expect(life.errors == [])
    await life.end()
    #expect(files.calls.count { $0.name == "write" } > 100)
    #expect(try await found(in: directory) == 2)
  }

  @Test(.longRunning, arguments: [0, 1, 70, 10_000])
  func `whenever the program dies, the next finds the acknowledged state or the one that was being saved`(
    written: Int
  ) async throws {
    for dying in 0..<(try await callsOfStory()) {
      let directory = try begun()
      let files = FaultyFiles { $0.number == dying ? .dies(afterBytes: written) : .works }
      // After its death no call does anything, so what it tries then does not count.
      var acknowledged = 1
      var tried = 1
      let life = try await Life.launched(in: directory.path, files)
      for number in 2...4 where files.calls.count <= dying {
        tried = number
        if await life.save(number) { acknowledged = number }
      }
      files.die()
      let place = "call \(dying): \(files.calls.last?.name ?? "")"
      let found = try await found(in: directory)
      #expect(found.map { (acknowledged...tried).contains($0) } == true, "\(place): \(found ?? -1) of \(acknowledged)")
      await life.end()
    }
  }

  @Test(arguments: [ENOSPC, EACCES])
  func `a disk that cannot be written for a while costs nothing once it can`(error: Int32) async throws {
    let directory = try begun()
    let isFull = Switch(true)
    let files = FaultyFiles { call in
      ["open", "makeFile", "write", "makeDirectory"].contains(call.name) && isFull.isOn ? .fails(error) : .works
    }
    let life = try await Life.launched(in: directory.path, files)
    #expect(life.number == 1 && life.outcome == .restored && !life.errors.isEmpty)
    for number in 2..<6 { #expect(await !life.save(number)) }
    #expect(life.state.problem != nil)
    isFull.isOn = false
    #expect(await life.save(6))
    #expect(life.state.problem == nil)
    #expect(directory.names.contains("saved-state.lock"))
    await life.end()
    #expect(try await found(in: directory) == 6)
  }

  /// The file holds the value of the save that failed, so the next one must write, though its value is the one before.
  @Test func `a value that goes back after a save whose last step failed is saved`() async throws {
    let directory = try begun()
    let fails = Switch(true)
    let life = try await Life.launched(
      in: directory.path, FaultyFiles { $0.name == "flushDirectory" && fails.isOn ? .fails(EIO) : .works })
    #expect(await !life.save(2))
    fails.isOn = false
    #expect(await life.save(1))
    await life.end()
    #expect(try await found(in: directory) == 1)
  }

  @Test func `a state that could not be renamed twice is found as the one before`() async throws {
    let directory = try begun()
    let fails = Switch(true)
    let life = try await Life.launched(
      in: directory.path,
      FaultyFiles {
        $0.name == "rename" && $0.path?.hasSuffix("saved-state") != true && fails.isOn ? .fails(EIO) : .works
      })
    #expect(await !life.save(2))
    #expect(directory.names == ["saved-state.lock", "saved-state.previous"])
    let other = try await Life.launched(in: directory.path, SystemFiles(), .init(secondProcess: .readsOnly))
    #expect(other.number == 1)
    fails.isOn = false
    #expect(await life.save(3))
    await life.end()
    #expect(try await found(in: directory) == 3)
  }
}
