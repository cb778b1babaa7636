import AppLifecycle
import LifecycleJournal
import PubSub
import TestFiles
import TestTraits
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Whatever the disk does, the program goes on, is told once, and the journal says what is missing.
@Suite(.timeLimit(.hang)) struct FaultTests {
  private let directory: TemporaryDirectory
  private let path: String
  private let bus = EventBus()
  private let failures = Shared<[JournalFailure]>([])
  private let recoveries = Shared<[JournalGap]>([])
  private let subscriptions: [EventBus.Subscription]

  init() throws {
    directory = try TemporaryDirectory()
    path = directory.file()
    let (failures, recoveries) = (failures, recoveries)
    subscriptions = [
      bus.subscribe(to: Journal.DidFail.self) { event in failures.append(event.failure) },
      bus.subscribe(to: Journal.DidRecover.self) { event in recoveries.append(event.gap) },
    ]
  }

  private func journal(
    _ files: FaultyFiles, size: Int? = nil, kept: Int = 100, flush: Journal.FlushPolicy = .never
  ) -> Journal {
    var configuration = Journal.Configuration()
    configuration.maximumSize = size
    configuration.keptFiles = kept
    configuration.flush = flush
    return Journal(at: path, configuration: configuration, bus: bus, instant: .zero, files: files, facts: .made())
  }

  private var told: [JournalFailure] { failures.value }

  @Test func `a disk that is full for a while is told once, and what is missing stands where it is missing`() throws {
    let isFull = Shared(false)
    let journal = journal(FaultyFiles { $0.name == "write" && isFull.value ? .fails(ENOSPC) : .works })
    for number in 0..<10 {
      isFull.value = (3..<8).contains(number)
      #expect(journal.append(numbered(number)) == !(3..<8).contains(number))
      #expect((journal.failure != nil) == (3..<8).contains(number))
    }
    #expect(told.map(\.description) == ["cannot write \(path): No space left on device"])
    #expect(told.map(\.error) == [FileError(number: ENOSPC)])
    let gap = JournalGap(
      since: .milliseconds(3), instant: .milliseconds(8), lost: 5,
      error: "cannot write \(path): No space left on device")
    #expect(recoveries.value == [gap])
    let entries = entries(of: path)
    #expect(entries.damage == [] && entries.gaps == [gap])
    #expect(entries.records.map(\.name) == ["n0", "n1", "n2", "n8", "n9"])
    #expect(entries.firstIndex { $0.content == .line(.gap(gap)) } == 4)
  }

  @Test(arguments: [false, true])
  func `half a line is taken back, or ended where that fails`(cannotCut: Bool) throws {
    let journal = journal(
      FaultyFiles { call in
        // The header is the first write.
        if call.name == "write", call.number == Self.thirdWrite { return .stopsAfter(bytes: 20, ENOSPC) }
        return call.name == "truncate" && cannotCut ? .fails(EIO) : .works
      })
    let kept = (0..<5).filter { journal.append(numbered($0)) }
    #expect(kept.count == 4)
    let entries = entries(of: path)
    #expect(entries.records.map(\.name) == kept.map { "n\($0)" } && entries.gaps.map(\.lost) == [1])
    #expect(entries.damage == (cannotCut ? [.notJSON] : []))
  }

  /// The number of the call that is the third write of a journal in which all works.
  private static let thirdWrite: Int = {
    guard let directory = try? TemporaryDirectory() else { return 0 }
    let files = FaultyFiles { _ in .works }
    var configuration = Journal.Configuration()
    configuration.flush = .never
    configuration.maximumSize = nil
    let journal = Journal(
      at: directory.file(), configuration: configuration, bus: nil, instant: .zero, files: files, facts: .made())
    for number in 0..<5 { journal.append(numbered(number)) }
    return files.calls.filter { $0.name == "write" }[2].number
  }()

  @Test func `a flush that fails is told; the record is there and not acknowledged`() throws {
    let journal = journal(FaultyFiles { $0.name == "flush" ? .fails(EIO) : .works }, flush: .everyRecord)
    #expect(!journal.append(numbered(1)) && !journal.append(numbered(2)))
    #expect(told.map(\.operation).first == .flush)
    #expect(entries(of: path).records.map(\.name) == ["n1", "n2"] && entries(of: path).gaps == [])
  }

  /// How flushes fail for a while.
  enum FailingFlush: CaseIterable {
    case file, directory
    /// As Linux does it: the flush after a failed one succeeds if nothing was written in between.
    case onceForEachWrite
  }

  @Test(arguments: FailingFlush.allCases)
  func `flushes that fail for a while are told once, and end with the record that was flushed again`(
    failing: FailingFlush
  ) throws {
    let (isBroken, isUnwritten) = (Shared(true), Shared(false))
    let journal = journal(
      FaultyFiles { call in
        switch (call.name, failing) {
        case ("write", _):
          isUnwritten.value = true
          return .works
        case ("flush", .file), ("flushDirectory", .directory): return isBroken.value ? .fails(EIO) : .works
        case ("flush", .onceForEachWrite):
          defer { isUnwritten.value = false }
          return isBroken.value && isUnwritten.value ? .fails(EIO) : .works
        default: return .works
        }
      }, flush: .everyRecord)
    for number in 1...3 { #expect(!journal.append(numbered(number))) }
    #expect(told.map(\.operation) == [.flush] && journal.failure?.operation == .flush)
    #expect(recoveries.value == [] && entries(of: path).gaps == [])
    isBroken.value = false
    #expect(journal.append(numbered(4)) && journal.failure == nil && journal.append(numbered(5)))
    let gap = JournalGap(
      since: .milliseconds(1), instant: .milliseconds(4), lost: 0, error: told.first?.description ?? "")
    #expect(told.count == 1 && recoveries.value == [gap] && entries(of: path).gaps == [gap])
    #expect(entries(of: path).records.map(\.name) == (1...5).map { "n\($0)" })
  }

  @Test func `a write that fails after a flush is told, too, and the run ends with a line that says so`() throws {
    let isFull = Shared(false)
    let journal = journal(
      FaultyFiles { call in
        if call.name == "flush" { return .fails(EIO) }
        return call.name == "write" && isFull.value ? .fails(EROFS) : .works
      }, flush: .when { $0.name == "n1" })
    #expect(!journal.append(numbered(1)))
    #expect(told.map(\.operation) == [.flush])
    // A line that is not flushed does not end the outage.
    #expect(journal.append(numbered(2)) && recoveries.value.isEmpty && journal.failure?.operation == .flush)
    isFull.value = true
    #expect(!journal.append(numbered(3)) && !journal.append(numbered(4)))
    #expect(told.map(\.operation) == [.flush, .write] && journal.failure?.operation == .write)
    isFull.value = false
    #expect(journal.append(numbered(5)))
    #expect(entries(of: path).gaps.map(\.lost) == [2] && recoveries.value.map(\.lost) == [2])
  }

  @Test(arguments: [EACCES, EIO, ESTALE])
  func `a look at the path that fails is no loss of the file`(error: Int32) throws {
    let isForbidden = Shared(false)
    let journal = journal(
      FaultyFiles { $0.name == "statusAt" && isForbidden.value ? .fails(error) : .works }, flush: .everyRecord)
    #expect(journal.append(numbered(1)))
    isForbidden.value = true
    #expect(journal.append(numbered(2)) && journal.append(numbered(3)))
    isForbidden.value = false
    #expect(journal.append(numbered(4)) && told.isEmpty && recoveries.value.isEmpty)
    let entries = entries(of: path)
    #expect(entries.records.map(\.name) == ["n1", "n2", "n3", "n4"] && entries.headers.count == 1)
  }

  @Test func `a file that is removed during an outage counts with its records`() throws {
    let isFull = Shared(false)
    let journal = journal(
      FaultyFiles { $0.name == "write" && isFull.value ? .fails(ENOSPC) : .works }, flush: .everyRecord)
    for number in 0..<4 { #expect(journal.append(numbered(number))) }
    isFull.value = true
    for number in 4..<6 { #expect(!journal.append(numbered(number))) }
    // To make room.
    unlink(path)
    isFull.value = false
    #expect(journal.append(numbered(6)))
    #expect(entries(of: path).gaps.map(\.lost) == [6] && recoveries.value.map(\.lost) == [6])
    #expect(told.map(\.operation) == [.write])
  }

  @Test func `a relative path is that of the directory in which the journal was opened`() throws {
    let files = FaultyFiles { _ in .works }
    let up = String(repeating: "../", count: 64) + path.dropFirst()
    let journal = Journal(
      at: up, configuration: Journal.Configuration(), bus: nil, instant: .zero, files: files, facts: .made())
    #expect(journal.append(numbered(1)) && entries(of: path).records.count == 1)
    let paths = files.calls.compactMap(\.path)
    #expect(!paths.isEmpty && paths.allSatisfy { $0.hasPrefix("/") }, "\(paths)")
    #expect(SystemFiles.absolute("") == "" && SystemFiles.absolute("/a/b") == "/a/b")
  }

  @Test func `a new file that cannot be written is still that of a first run`() throws {
    let journal = journal(FaultyFiles { $0.name == "write" ? .fails(ENOSPC) : .works })
    #expect(journal.failure != nil && journal.previousExit.kind == .firstRun)
  }

  @Test func `a file that cannot be opened is tried again with every record`() throws {
    let isForbidden = Shared(true)
    let journal = journal(FaultyFiles { $0.name == "open" && isForbidden.value ? .fails(EACCES) : .works })
    #expect("\(journal.previousExit)" == "unknown (no run can be read)")
    #expect(told.map(\.description) == ["cannot open \(path): Permission denied"])
    #expect(!journal.append(numbered(1)) && !journal.append(numbered(2)))
    isForbidden.value = false
    #expect(journal.append(numbered(3)))
    #expect(told.count == 1 && directory.names == ["journal.jsonl"])
    let entries = entries(of: path)
    #expect(entries.records.map(\.name) == ["n3"] && entries.gaps.map(\.lost) == [2])
    #expect(entries.headers.map(\.part) == [0])
  }

  @Test func `a subscriber after the journal was opened still learns that it failed`() async {
    let late = EventBus()
    _ = Journal(at: "/proc/nothing/here.jsonl", bus: late)
    var events = late.events(Journal.DidFail.self, replay: .latest).makeAsyncIterator()
    #expect(await events.next()?.missing == "nothing is recorded until the journal can be written again")
  }

  @Test func `directories that are missing are made; where that cannot be, or no file is there, the program goes on`()
    throws
  {
    let deep = directory.file("a/b/c/journal.jsonl")
    #expect(Journal(at: deep).append(numbered(1)))
    #expect(entries(of: deep).records.count == 1)
    try write("", to: directory.file("plain"))
    for path in [directory.file("plain") + "/journal.jsonl", directory.path, "/dev/null", "/dev/full", ""] {
      let journal = Journal(at: path)
      #expect(!journal.append(numbered(1)) && journal.failure?.operation == .open, "\(path)")
      #expect(journal.previousExit.kind == .unknown)
    }
    let pipe = directory.file("pipe")
    #expect(mkfifo(pipe, 0o600) == 0)
    #expect(Journal(at: pipe).failure?.operation == .open)
  }

  @Test func `a file that cannot be put aside grows on; that is told once`() throws {
    let journal = journal(FaultyFiles { $0.name == "rename" ? .fails(EROFS) : .works }, size: 1_000, kept: 1)
    for number in 0..<50 { #expect(journal.append(numbered(number))) }
    #expect(told.map(\.operation) == [.rotate] && journal.failure == nil)
    #expect(entries(of: path).records.count == 50 && bytes(of: path).count > 3_000)
  }

  // MARK: Every call

  /// Runs of some records, with files that are put aside; which of them were acknowledged.
  private func scenario(_ files: FaultyFiles) -> (acknowledged: [Int], lastFailed: Bool) {
    var acknowledged: [Int] = []
    var journal = journal(files, size: 700, flush: .when { $0.name.hasSuffix("3") })
    for number in 0..<24 {
      if number == 15 {
        journal.close()
        journal = self.journal(files, size: 700, flush: .when { $0.name.hasSuffix("3") })
      }
      if journal.append(numbered(number)) { acknowledged.append(number) }
    }
    journal.close()
    return (acknowledged, journal.failure != nil)
  }

  @Test(.longRunning)
  func `whichever call fails, no acknowledged record is lost, none comes twice, and gaps say how many are missing`()
    throws
  {
    let count = try callsOfScenario()
    for failing in 0..<count {
      let faults = try FaultTests()
      let fate: [FaultyFiles.Fate] = [.fails(EIO), .stopsAfter(bytes: 30, ENOSPC)]
      let files = FaultyFiles { $0.number == failing ? fate[failing % 2] : .works }
      let (acknowledged, lastFailed) = faults.scenario(files)
      let place = "call \(failing): \(files.calls[failing])"
      let entries = entries(of: faults.path)
      let numbers = entries.records.compactMap { Int($0.name.dropFirst()) }
      #expect(entries.damage.isEmpty, "\(place)")
      #expect(numbers == numbers.sorted() && Set(numbers).count == numbers.count, "\(place): \(numbers)")
      #expect(Set(acknowledged).isSubset(of: numbers), "\(place): \(numbers)")
      #expect(acknowledged.count >= 22 && !lastFailed, "\(place): \(acknowledged)")
      #expect(entries.gaps.map(\.lost).reduce(0, +) == 24 - numbers.count, "\(place): \(entries.gaps)")
    }
  }

  @Test(.longRunning, arguments: [0, 1, 40, 10_000])
  func `whenever the program dies, what was acknowledged is there once, and the next run can go on`(written: Int) throws
  {
    let count = try callsOfScenario()
    for dying in 0..<count {
      let faults = try FaultTests()
      let files = FaultyFiles { $0.number == dying ? .dies(afterBytes: written) : .works }
      let (acknowledged, _) = faults.scenario(files)
      files.die()
      let place = "call \(dying): \(files.calls[dying])"
      var entries = entries(of: faults.path)
      var numbers = entries.records.compactMap { Int($0.name.dropFirst()) }
      // The one that was being written may be there.
      #expect(acknowledged == Array(numbers.prefix(acknowledged.count)), "\(place): \(numbers)")
      #expect(numbers.count <= acknowledged.count + 1 && numbers == Array(0..<numbers.count), "\(place): \(numbers)")
      #expect(entries.damage.allSatisfy { $0 == .unfinished }, "\(place): \(entries.damage)")
      let next = faults.journal(FaultyFiles { _ in .works }, size: 700)
      // A run that has begun and recorded nothing does not say how it ended.
      let hasBegunAnew = entries.lastIndex {
        if case .line(.run(let header)) = $0.content { header.part == 0 } else { false }
      }
      let lastRecord = entries.lastIndex { if case .line(.record) = $0.content { true } else { false } }
      let kind =
        hasBegunAnew == nil
        ? "first run" : hasBegunAnew ?? 0 > lastRecord ?? -1 ? "unknown" : "killed in the foreground"
      #expect(next.previousExit.text == kind || entries.headers.isEmpty, "\(place): \(next.previousExit)")
      for number in numbers.count..<(numbers.count + 10) { #expect(next.append(numbered(number)), "\(place)") }
      entries = LifecycleJournalTests.entries(of: faults.path)
      numbers = entries.records.compactMap { Int($0.name.dropFirst()) }
      #expect(numbers == Array(0..<(numbers.last ?? 0) + 1), "\(place): \(numbers)")
      #expect(entries.damage.count <= 1, "\(place): \(entries.damage)")
    }
  }

  private func callsOfScenario() throws -> Int {
    let files = FaultyFiles { _ in .works }
    let faults = try FaultTests()
    #expect(faults.scenario(files).acknowledged.count == 24)
    #expect(faults.directory.names.count > 4)
    return files.calls.count
  }
}
