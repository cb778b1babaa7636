import AppLifecycle
import Foundation
import TestFiles
import TestTraits
import Testing

@testable import lifecycle

/// The file that `-o` names appears as a whole, and only where its user wants it.
@Suite(.timeLimit(.hang)) struct OutputFileTests: JournalToolSuite {
  let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  private var page: String { folder.appending(path: "page.html").path }
  private let files = FileManager.default

  private func mode(of path: String) throws -> Int {
    try #require(files.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
  }

  private func names() throws -> [String] { try files.contentsOfDirectory(atPath: folder.path).sorted() }

  private func text(of path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }

  @Test(arguments: [("0", 0o644), ("022", 0o644), ("077", 0o600), ("002", 0o644)])
  func `no other user may write it, and the umask counts`(mask: String, mode: Int) throws {
    #expect(try Tool.shell("umask \(mask) && exec \"$0\" states -o '\(page)'", input: "").status == 0)
    #expect(try self.mode(of: page) == mode && text(of: page).hasSuffix("</html>\n"))
    // What was private stays so.
    try files.setAttributes([.posixPermissions: 0o600], ofItemAtPath: page)
    #expect(try Tool.shell("umask 0 && exec \"$0\" states -o '\(page)'", input: "").status == 0)
    #expect(try self.mode(of: page) == 0o600 && names() == ["page.html"])
  }

  @Test @MainActor func `a file that cannot be written to its end leaves the former one`() async throws {
    try await makeJournal("launch; home; open; kill")
    for command in ["states", "timeline '\(path)'"] {
      try "former".write(toFile: page, atomically: false, encoding: .utf8)
      // A signal that the program of the tests ignores would be ignored by the tool, too.
      #if os(Linux)
        let start = "exec env --default-signal=XFSZ"
      #else
        let start = "exec"
      #endif
      let line = "ulimit -f 1; \(start) \"$0\" \(command) -o '\(page)'"
      let result = try Tool.shell(line, input: "")
      #expect(result.status == 74 && result.error == "lifecycle: cannot write \(page): File too large\n")
      #expect(try text(of: page) == "former" && names() == ["page.html", "trips.jsonl"], "\(command)")
    }
    // A run that is not there.
    #expect(try Tool.run("timeline", "--session", "9", path, "-o", page).status == 1)
    #expect(try text(of: page) == "former" && names() == ["page.html", "trips.jsonl"])
  }

  @Test func `a link of one's own is followed and stays`() throws {
    let real = folder.appending(path: "real.html").path
    try files.createSymbolicLink(atPath: page, withDestinationPath: "real.html")
    for _ in 1...2 {
      #expect(try Tool.run("states", "-o", page).status == 0)
      #expect(try files.destinationOfSymbolicLink(atPath: page) == "real.html")
      #expect(try text(of: real).hasSuffix("</html>\n") && names() == ["page.html", "real.html"])
    }
    try files.removeItem(atPath: page)
    try files.createSymbolicLink(atPath: page, withDestinationPath: "page.html")
    let loop = try Tool.run("states", "-o", page)
    #expect(loop.status == 74 && loop.error == "lifecycle: cannot open \(page): Too many levels of symbolic links\n")
  }

  @Test func `another user's link is not followed`() throws {
    guard geteuid() == 0 else { return print("skipped: only root can make a link of another user") }
    let victim = folder.appending(path: "victim").path
    try "precious".write(toFile: victim, atomically: false, encoding: .utf8)
    try files.createSymbolicLink(atPath: page, withDestinationPath: victim)
    #expect(lchown(page, 65_534, 65_534) == 0)
    for command in [["states"], ["timeline", path]] {
      try "".write(toFile: path, atomically: false, encoding: .utf8)
      let result = try Tool.run(command + ["-o", page])
      #expect(result.status == 74 && result.error == "lifecycle: cannot open \(page): Operation not permitted\n")
      #expect(try text(of: victim) == "precious")
    }
  }

  @Test func `standard output by its name keeps what stands in its file`() throws {
    let notes = folder.appending(path: "notes.txt").path
    for name in ["/dev/stdout", "/dev/fd/1"] {
      try "former\n".write(toFile: notes, atomically: false, encoding: .utf8)
      let line = "\"$0\" states --format text -o \(name) >> '\(notes)'"
      #expect(try Tool.shell(line, input: "") == Tool.Result(status: 0, output: "", error: ""))
      #expect(try text(of: notes) == "former\n" + Tool.run("states").output && names() == ["notes.txt"])
    }
  }

  /// Its file is the shell's, which goes on writing to it.
  @Test(arguments: ["/dev/stderr", "/dev/fd/2", "/dev/fd/3", "link"])
  func `a file behind a descriptor is appended to and not replaced`(name: String) throws {
    let notes = folder.appending(path: "notes.txt").path
    let link = folder.appending(path: "link").path
    try files.createSymbolicLink(atPath: link, withDestinationPath: "/dev/fd/3")
    try "former\n".write(toFile: notes, atomically: false, encoding: .utf8)
    let output = name == "link" ? link : name
    let number = name.hasSuffix("2") || name.hasSuffix("r") ? 2 : 3
    let line = "\"$0\" states --format text -o \(output); echo after >&\(number)"
    let result = try Tool.shell("{ \(line); } \(number)>> '\(notes)'", input: "")
    #expect(result == Tool.Result(status: 0, output: "", error: ""))
    #expect(try text(of: notes) == "former\n" + Tool.run("states").output + "after\n")
    #expect(try names() == ["link", "notes.txt"])
  }

  #if os(Linux)
    @Test(arguments: ["/proc/self/fd/1", "/proc/self/fd/3"])
    func `so is one by its name in the system's list of descriptors`(name: String) throws {
      let notes = folder.appending(path: "notes.txt").path
      try "former\n".write(toFile: notes, atomically: false, encoding: .utf8)
      let number = name.suffix(1)
      let line = "\"$0\" states --format text -o \(name) \(number)>> '\(notes)'"
      #expect(try Tool.shell(line, input: "") == Tool.Result(status: 0, output: "", error: ""))
      #expect(try text(of: notes) == "former\n" + Tool.run("states").output && names() == ["notes.txt"])
    }

    @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
    func `a signal that ends the tool removes the file that has no name yet`(signal: Int32) throws {
      try "former".write(toFile: page, atomically: false, encoding: .utf8)
      // Its 20 complaints are longer than the pipe, so the tool stops in the middle of the journal.
      let journal = directory.file(String(repeating: "t", count: 200))
      let record = LifecycleRecord(instant: .zero, kind: .input, name: "memory", state: .active, cause: "memory")
      let text = String(repeating: record.jsonLine + "\n", count: 5_000) + String(repeating: "damage\n", count: 20)
      try text.write(toFile: journal, atomically: false, encoding: .utf8)
      let complaints = Pipe()
      let setPipeSize: Int32 = 1_031
      #expect(fcntl(complaints.fileHandleForWriting.fileDescriptor, setPipeSize, 4_096) == 4_096)
      let tool = Process()
      tool.standardError = complaints
      tool.executableURL = URL(filePath: "/usr/bin/env")
      // The program of the tests may ignore these signals, and the tool would inherit that.
      tool.arguments = ["--default-signal", Tool.executable.path, "timeline", journal, "--format", "json", "-o", page]
      try tool.run()
      #expect(try complaints.fileHandleForReading.read(upToCount: 1)?.count == 1)
      let isNew = { (name: String) in name.hasPrefix("page.html.new-") }
      #expect(try names().contains(where: isNew))
      kill(tool.processIdentifier, signal)
      tool.waitUntilExit()
      #expect(tool.terminationReason == .uncaughtSignal && tool.terminationStatus == signal)
      #expect(try self.text(of: page) == "former" && !names().contains(where: isNew))
    }

    @Test func `after a failed write the file is not finished, also if the disk has room again`() throws {
      try "former".write(toFile: page, atomically: false, encoding: .utf8)
      let output = OutputFile(page)
      let piece = String(repeating: "x", count: 70_000)
      try output.write(piece)
      // The descriptor of the new file becomes one of a full disk, and then the former one again.
      let numbers = try files.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { Int32($0) }
      let number = try #require(
        numbers.first {
          (try? files.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)"))?.hasPrefix(page + ".new-") == true
        })
      let (kept, full) = (dup(number), open("/dev/full", O_WRONLY | O_CLOEXEC))
      defer { for descriptor in [kept, full] { close(descriptor) } }
      #expect(dup2(full, number) == number)
      #expect(throws: StandardStreams.Failure.self) { try output.write(piece) }
      #expect(dup2(kept, number) == number)
      #expect(throws: StandardStreams.Failure.self) { try output.finish() }
      #expect(try text(of: page) == "former")
    }
  #endif

  @Test func `a device or a pipe is written as it is`() throws {
    let states = try Tool.run("states", "--format", "html", "-o", "-").output
    #expect(try Tool.run("states", "--format", "html", "-o", "/dev/stdout").output == states)
    #expect(
      try Tool.run("states", "--format", "html", "-o", "/dev/null") == Tool.Result(status: 0, output: "", error: ""))
    #expect(try Tool.run("states", "--format", "html", "-o", folder.path).status == 74)
  }
}
