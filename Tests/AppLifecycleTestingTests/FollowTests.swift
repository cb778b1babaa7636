#if os(Linux)
  import AppLifecycle
  import Foundation
  import LifecycleJournal
  import TestTraits
  import Testing

  /// `lifecycle log --follow` while the directories around the journal come and go.
  @Suite(.timeLimit(.hang)) struct FollowTests {
    private let folder: URL
    private let files = FileManager.default

    init() throws {
      folder = FileManager.default.temporaryDirectory.appending(path: "follow-\(UUID().uuidString)")
      try files.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    /// The journal, three directories down.
    private var path: String { folder.appending(path: "a/b/c/trips.jsonl").path }

    /// A new program writes the journal: makes the directories that are missing, and is followed record by record.
    private func write(_ numbers: Range<Int>, _ follower: Tool.Following) {
      let journal = Journal(at: path)
      for number in numbers {
        let record = LifecycleRecord(
          instant: .milliseconds(number), kind: .notification, name: "n\(number)", state: .active, cause: "test")
        journal.append(record)
        #expect(follower.nextLine() == record.jsonLine)
      }
      journal.close()
    }

    /// Follows a journal that is there and holds no record yet; removes everything afterwards.
    private func following(_ body: (Tool.Following) throws -> Void) throws {
      defer { try? files.removeItem(at: folder) }
      Journal(at: path).close()
      let follower = try Tool.Following(["log", "--follow", "--json", path])
      try body(follower)
      follower.end()
    }

    /// Lets programs write, and before each but the first one changes the directories.
    private func write(_ follower: Tool.Following, between change: (_ round: Int) throws -> Void) throws {
      write(0..<3, follower)
      for round in 1..<4 {
        try change(round)
        write(3 * round..<3 * round + 3, follower)
      }
    }

    /// What is removed: the journal's directory, the one above it, and so on.
    @Test(arguments: ["a/b/c", "a/b", "a"])
    func `goes on in a directory that was removed and made again`(removed: String) throws {
      try following { follower in
        try write(follower) { _ in try files.removeItem(at: folder.appending(path: removed)) }
      }
    }

    /// As `chmod 711` makes it: the file can be opened by its name, and the system refuses to watch the directory.
    @Test func `goes on in a directory that may not be read`() throws {
      // Root reads every directory, unless it gives that right away.
      let rights = "-dac_override,-dac_read_search"
      let wrapper = geteuid() == 0 ? ["setpriv", "--bounding-set", rights, "--inh-caps", rights] : []
      let directory = folder.appending(path: "a/b/c").path
      defer { try? files.removeItem(at: folder) }
      Journal(at: path).close()
      try files.setAttributes([.posixPermissions: 0o311], ofItemAtPath: directory)
      defer { try? files.setAttributes([.posixPermissions: 0o700], ofItemAtPath: directory) }
      let follower = try Tool.Following(["log", "--follow", "--json", path], by: wrapper)
      write(0..<3, follower)
      follower.end()
    }

    /// What is moved away; the program that wrote there ends.
    @Test(arguments: ["a/b/c", "a/b", "a"])
    func `goes on in a directory that took the place of one that was moved`(moved: String) throws {
      try following { follower in
        try write(follower) { round in
          try files.moveItem(at: folder.appending(path: moved), to: folder.appending(path: "old-\(round)"))
        }
      }
    }

    @Test func `follows a link, into the next file and where the link leads later`() throws {
      defer { try? files.removeItem(at: folder) }
      let link = folder.appending(path: "current.jsonl").path
      var configuration = Journal.Configuration()
      configuration.maximumSize = 1_000
      configuration.keptFiles = 10
      try files.createSymbolicLink(atPath: link, withDestinationPath: "a/b/c/trips.jsonl")
      Journal(at: link, configuration: configuration).close()
      let follower = try Tool.Following(["log", "--follow", "--json", link])
      for (round, target) in ["a/b/c/trips.jsonl", "a/later.jsonl"].enumerated() {
        try files.removeItem(atPath: link)
        try files.createSymbolicLink(atPath: link, withDestinationPath: target)
        let journal = Journal(at: link, configuration: configuration)
        for number in 0..<30 {
          let record = LifecycleRecord(
            instant: .milliseconds(number), kind: .notification, name: "r\(round) n\(number)", state: .active,
            cause: "test")
          journal.append(record)
          #expect(follower.nextLine() == record.jsonLine)
        }
      }
      follower.end()
      #expect(files.fileExists(atPath: path + ".1") && !files.fileExists(atPath: link + ".1"))
      let all = try Tool.run("log", "--json", folder.appending(path: "a/later.jsonl").path).output
      #expect(try Tool.run("log", "--json", link).output == all && all.split(separator: "\n").count == 30)
    }

    @Test func `goes on in a directory that was moved there with the journal in it`() throws {
      try following { follower in
        write(0..<3, follower)
        let other = folder.appending(path: "other/b/c/trips.jsonl").path
        let record = LifecycleRecord(instant: .zero, kind: .notification, name: "other", state: .active, cause: "test")
        Journal(at: other).append(record)
        try files.removeItem(at: folder.appending(path: "a"))
        try files.moveItem(at: folder.appending(path: "other"), to: folder.appending(path: "a"))
        #expect(follower.nextLine() == record.jsonLine)
        write(3..<6, follower)
      }
    }
  }
#endif
