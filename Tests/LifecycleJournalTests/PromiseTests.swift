import AppLifecycle
import Foundation
import LifecycleJournal
import PubSub
import TestFiles
import TestTraits
import Testing

/// Whatever a journal's file holds, and whatever the file system lacks, the program records, or says exactly why it cannot
/// and what to do.
@Suite(.timeLimit(.hang)) struct PromiseTests {
  private let directory: TemporaryDirectory
  private let path: String
  private let bus = EventBus()
  private let told = Shared<[JournalFailure]>([])
  private let subscription: EventBus.Subscription

  init() throws {
    directory = try TemporaryDirectory()
    path = directory.file()
    let told = told
    subscription = bus.subscribe(to: Journal.DidFail.self) { told.append($0.failure) }
  }

  private func journal(_ files: any FileCalls = SystemFiles(), size: Int? = nil) -> Journal {
    var configuration = Journal.Configuration()
    configuration.maximumSize = size
    configuration.keptFiles = 100
    configuration.flush = .when { $0.name.hasSuffix("3") }
    return Journal(at: path, configuration: configuration, bus: bus, instant: .zero, files: files, facts: .made())
  }

  /// A journal either records, or was told to fail with words for a person.
  private func check(_ journal: Journal, hasKept: Bool, _ note: String) {
    if hasKept { return }
    #expect(!told.value.isEmpty, "\(note): lost without a word")
    for failure in told.value {
      #expect(!failure.reason.isEmpty && !failure.advice.isEmpty && failure.path.hasPrefix(path), "\(note): \(failure)")
    }
  }

  // MARK: What the file holds

  private static let header = RunHeader(
    run: "r", program: "trips", processID: 7, bootID: nil, start: .seconds(1), wallTime: .seconds(1)
  ).jsonLine

  private static let damages: [(String, [UInt8])] = [
    ("NUL bytes", [UInt8](repeating: 0, count: 5_000)), ("a line feed and NUL bytes", [10, 0, 0, 0]),
    ("half a line", Array("{\"t\":1.0,\"kind\":\"inp".utf8)), ("invalid UTF-8", [0x7B, 0x22, 0xFF, 0xFE, 0x22, 0x7D]),
    ("a byte order mark", [0xEF, 0xBB, 0xBF]), ("UTF-16", Array("{\u{0}}\u{0}".utf8)),
    ("carriage returns", Array("\r\r\r{\r}".utf8)), ("a terminal's sequences", Array("\u{1B}[2J\u{9B}2J".utf8)),
    ("brackets", [UInt8](repeating: 0x5B, count: 100_000)),
    ("a line of 2 MiB", [UInt8](repeating: 0x78, count: 2 << 20)),
    ("line feeds", [UInt8](repeating: 10, count: 10_000)),
    ("other JSON", Array("{\"journal\":\"mood\"}\n{\"log\":1}\n[]\n7\nnull".utf8)),
    ("a newer version", Array("{\"journal\":\"run\",\"version\":99,\"mood\":[]}".utf8)),
  ]

  @Test func `behind any damage the journal goes on, and the next run reads it`() throws {
    for (name, damage) in Self.damages {
      for hasEnd in [false, true] {
        let content = Array((Self.header + "\n" + numbered(1).jsonLine + "\n").utf8) + damage + (hasEnd ? [10] : [])
        try Data(content).write(to: URL(filePath: path))
        let first = journal()
        #expect(first.failure == nil && first.append(numbered(2)), "\(name)")
        first.close()
        let second = journal()
        #expect(second.previousExit.text == "killed in the foreground", "\(name): \(second.previousExit)")
        #expect(second.previousExit.run.lastRecord == numbered(2), "\(name)")
        second.close()
        #expect(bytes(of: path).starts(with: content), "\(name)")
        #expect(entries(of: path).records == [numbered(1), numbered(2)], "\(name)")
      }
    }
  }

  @Test func `a file that begins with damage is a journal or is not changed, and which of both is told`() throws {
    for (name, damage) in Self.damages {
      try Data(damage).write(to: URL(filePath: path))
      told.value = []
      let journal = journal()
      let hasKept = journal.append(numbered(2))
      check(journal, hasKept: hasKept, name)
      #expect(bytes(of: path).starts(with: damage), "\(name)")
      if !hasKept { #expect(told.value.map(\.operation) == [.recognize] && bytes(of: path) == damage, "\(name)") }
      journal.close()
    }
  }

  /// A gigabyte without a line end, as a disk's damage or another program may leave it; the file takes no room.
  @Test(.longRunning) func `a line of a gigabyte is passed over`() throws {
    try write(Self.header + "\n" + numbered(1).jsonLine + "\n", to: path)
    let file = try FileHandle(forWritingTo: URL(filePath: path))
    try file.truncate(atOffset: 1 << 30)
    try file.close()
    let first = journal()
    #expect(first.failure == nil && first.previousExit.run.lastRecord == numbered(1))
    #expect(first.append(numbered(2)))
    first.close()
    let found = Array(try JournalReader(path: path))
    #expect(found.records == [numbered(1), numbered(2)] && found.damage == [.tooLong])
  }

  // MARK: What stands in the file's place

  @Test func `what is no file, or leads to none, is told with what to do`() throws {
    let cases: [(String, (String) throws -> Void)] = [
      ("Is a directory", { try FileManager.default.createDirectory(atPath: $0, withIntermediateDirectories: false) }),
      (
        "Too many levels of symbolic links",
        { try FileManager.default.createSymbolicLink(atPath: $0, withDestinationPath: $0) }
      ),
      (
        "not a regular file",
        { try FileManager.default.createSymbolicLink(atPath: $0, withDestinationPath: "/dev/null") }
      ),
      ("No such device or address", { #expect(mkfifo($0, 0o600) == 0) }),
    ]
    for (reason, make) in cases {
      try make(path)
      told.value = []
      let journal = journal()
      #expect(!journal.append(numbered(1)) && journal.previousExit.kind == .unknown, "\(reason)")
      check(journal, hasKept: false, reason)
      #expect(told.value.map(\.reason) == [reason])
      journal.close()
      try FileManager.default.removeItem(atPath: path)
    }
  }

  // MARK: What the file system lacks

  /// Every system call, with every error that a file system, a quota, a limit or a policy gives for it.
  @Test(.longRunning) func `whichever call never works, the program records, or says why and what to do`() throws {
    let errors: [Int32] = [
      EACCES, EPERM, EROFS, ENOSPC, EDQUOT, EFBIG, EIO, ENOLCK, EOPNOTSUPP, ENOSYS, EINVAL, EMFILE, ENAMETOOLONG,
      ENOMEM,
      ESTALE,
    ]
    let all = FaultyFiles { _ in .works }
    _ = scenario(all)
    let names = Set(all.calls.map(\.name)).sorted()
    #expect(names.count >= 12, "\(names)")
    for name in names {
      for error in errors {
        try? FileManager.default.removeItem(atPath: directory.path)
        try FileManager.default.createDirectory(atPath: directory.path, withIntermediateDirectories: false)
        told.value = []
        let files = FaultyFiles { $0.name == name ? .fails(error) : .works }
        let (journal, acknowledged) = scenario(files)
        let note = "\(name) gives \(FileError(number: error))"
        check(journal, hasKept: acknowledged.count == 24, note)
        let found = entries(of: path)
        let numbers = found.records.compactMap { Int($0.name.dropFirst()) }
        #expect(Set(acknowledged).isSubset(of: numbers) && numbers == numbers.sorted(), "\(note): \(numbers)")
        #expect(found.damage.isEmpty, "\(note): \(found.damage)")
        // No run is accused of a crash.
        #expect(journal.previousExit.kind != .crashed, "\(note)")
      }
    }
  }

  /// Two runs, with files that are put aside.
  private func scenario(_ files: FaultyFiles) -> (journal: Journal, acknowledged: [Int]) {
    var acknowledged: [Int] = []
    var journal = journal(files, size: 700)
    for number in 0..<24 {
      if number == 15 {
        journal.close()
        journal = self.journal(files, size: 700)
      }
      if journal.append(numbered(number)) { acknowledged.append(number) }
    }
    journal.close()
    return (journal, acknowledged)
  }

  @Test(arguments: [
    (ENOLCK, "choose a path on a file system that can lock files"),
    (EOPNOTSUPP, "choose a path on a file system that can lock files"),
    (EACCES, "make the file and its directory writable"),
  ])
  func `where files cannot be locked, the reason and the remedy are said`(error: Int32, advice: String) {
    let journal = journal(FaultyFiles { $0.name == "lock" ? .fails(error) : .works })
    #expect(!journal.append(numbered(1)))
    #expect(told.value.map(\.description) == ["cannot open \(path): \(FileError(number: error))"])
    #expect(told.value.first?.advice.hasPrefix(advice) == true)
  }
}
