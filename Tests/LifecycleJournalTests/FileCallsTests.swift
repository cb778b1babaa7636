import LifecycleJournal
import TestFiles
import TestTraits
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The calls of the operating system that journals and saved state share.
@Suite(.timeLimit(.hang)) struct FileCallsTests {
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  @Test(arguments: ["a/b", "a/b/", "a//b", "a/b//"])
  func `missing directories are made, however the path is written`(path: String) throws {
    let path = directory.file("new/\(path)")
    try SystemFiles().makeDirectories(path)
    #expect(try SystemFiles().status(at: path).size >= 0)
    try SystemFiles().makeDirectories(path)
  }

  @Test func `a directory that another program makes at the same time counts as made`() throws {
    let path = directory.file("a/b")
    let files = FaultyFiles { call in
      // The third call makes the directory, after its parent; the other program is faster.
      if call.name == "makeDirectory", call.number == 2 { mkdir(path, 0o700) }
      return .works
    }
    try files.makeDirectories(path)
    #expect(files.calls.map(\.path) == [path, directory.file("a"), path])
  }

  @Test func `a file takes the number of no standard stream that the program was started without`() async {
    await #expect(processExitsWith: .success) {
      let directory = try TemporaryDirectory()
      let files = SystemFiles()
      for stream in [Int32(0), 1, 2] { close(stream) }
      let descriptors = [
        try files.makeFile(directory.file("new"), mode: 0o600),
        try files.openForAppending(directory.file("journal"), exclusively: true),
        try files.openStream("/dev/null"),
      ]
      exit(descriptors.allSatisfy { $0 > 2 } ? EXIT_SUCCESS : EXIT_FAILURE)
    }
  }
}
