import AppLifecycle
import AppLifecycleTesting
import LifecycleJournal
import TestFiles
import TestTraits
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Where there is no more room, the journal still says how the run ended, or that it does not know.
@Suite(.timeLimit(.hang)) @MainActor struct ReserveTests {
  private let directory: TemporaryDirectory
  private let path: String

  init() throws {
    directory = try TemporaryDirectory()
    path = directory.file()
  }

  /// Plays a script during which the disk gets full after a number of calls that ask for room; how the run ended, then.
  private func run(_ script: String, limit: Int64? = nil, roomFails number: Int32? = nil) async throws -> PreviousExit {
    let system = SimulatedSystem()
    let isFull = Shared(false)
    let files = FaultyFiles(limit: limit) { call in
      guard isFull.value, let number else { return .works }
      return call.name == "reserve" ? .fails(number) : .works
    }
    let journal = Journal(
      at: path, of: system.application, configuration: .init(), files: files, facts: .made())
    let token = system.application.observe { event in
      if event.record?.name == "launch" { isFull.value = true }
    }
    defer { token.cancel() }
    try await system.play(script)
    withExtendedLifetime(journal) {}
    files.die()
    return summary()
  }

  private func summary() -> PreviousExit {
    let run = entries(of: path).reduce(into: RunSummary()) { run, entry in
      switch entry.content {
      case .line(let line): run.take(line)
      case .damaged(let damage): run.take(damage)
      }
    }
    return PreviousExit(of: run, bootID: "boot-1")
  }

  /// Longer than the room that is reserved at a time.
  private static let warnings = String(repeating: "memory; ", count: 300)

  @Test(arguments: [ENOSPC, EDQUOT])
  func `an order to end is recorded in the room that was reserved at the start`(error: Int32) async throws {
    let exit = try await run("launch; \(Self.warnings) home; open; kill", roomFails: error)
    #expect(exit.kind == .terminated && exit.run.lost > 50 && exit.run.damagedLines == 0, "\(exit)")
    #expect(exit.evidence.contains("\(exit.run.lost) records missing"))
    #expect(entries(of: path).stops.map(\.error) == ["cannot write \(path): \(systemText(error))"])
  }

  @Test func `a run whose journal stopped, and that vanished, is not accused`() async throws {
    let exit = try await run("launch; \(Self.warnings)", roomFails: ENOSPC)
    #expect(exit.kind == .unknown && exit.run.stop != nil, "\(exit)")
    #expect(exit.evidence.contains("the journal stopped before the end: cannot write"), "\(exit)")
  }

  @Test func `changes of state leave room for the end, however many there are`() async throws {
    let changes = String(repeating: "home; open; ", count: 400)
    let exit = try await run("launch; \(changes) kill", limit: 20_000)
    #expect(exit.kind == .terminated && exit.run.lost > 500 && bytes(of: path).count <= 20_000, "\(exit)")
    #expect(bytes(of: path).count > 18_000)
  }

  @Test func `a file system that cannot reserve room is used without`() async throws {
    let exit = try await run("launch; \(Self.warnings) kill", roomFails: EOPNOTSUPP)
    #expect(exit.kind == .terminated && exit.run.lost == 0 && exit.run.records > 600, "\(exit)")
  }

  @Test func `a journal that can be written again says what is missing, and has no stop any more`() throws {
    let isFull = Shared(false)
    let journal = Journal(
      at: path, configuration: .init(), bus: nil, instant: .zero,
      files: FaultyFiles { $0.name == "reserve" && isFull.value ? .fails(ENOSPC) : .works }, facts: .made())
    var number = 0
    var kept = 0
    func append(_ count: Int) {
      for _ in 0..<count {
        number += 1
        if journal.append(numbered(number)) { kept += 1 }
      }
    }
    append(10)
    isFull.value = true
    append(1_500)
    #expect(journal.failure != nil && summary().run.stop != nil)
    // The states are recorded meanwhile, and are not the end of the outage.
    #expect(journal.append(numbered(0, .state, state: .background)) && journal.failure != nil)
    isFull.value = false
    append(10)
    let exit = summary()
    #expect(journal.failure == nil && exit.run.stop == nil && exit.kind == .killed)
    #expect(exit.run.lost == number - kept && exit.run.records == kept + 1)
    journal.close()
  }

  #if os(Linux)
    /// The room that the file takes on the disk, in units of 512 bytes.
    private var blocks: Int {
      var status = stat()
      return stat(path, &status) == 0 ? Int(status.st_blocks) : -1
    }

    /// Some file systems (tmpfs) hold reserved room to the limit, too, and the system then ends the process.
    @Test func `no room is reserved beyond the limit on the size of files`() throws {
      let limit = 20_480
      let journal = Journal(
        at: path, configuration: .init(), bus: nil, instant: .zero,
        files: FaultyFiles(limit: Int64(limit)) { _ in .works }, facts: .made())
      #expect((0..<1_000).contains { !journal.append(numbered($0)) || blocks > limit / 512 })
      #expect(journal.failure?.error == FileError(number: EFBIG) && blocks <= limit / 512)
      journal.append(numbered(0, .state, state: .notRunning))
      #expect(entries(of: path).records.last?.state == .notRunning && blocks <= limit / 512)
    }

    @Test func `the room that was not used is given back`() throws {
      let journal = Journal(at: path)
      journal.append(numbered(1))
      let reserved = blocks
      journal.close()
      #expect(reserved >= 128 || blocks == reserved, "\(reserved)")
      #expect(blocks <= 16 && entries(of: path).records.count == 1)
    }
  #endif
}

private func systemText(_ number: Int32) -> String { FileError(number: number).description }
