import CUnixHost
import Glibc
import PseudoTerminal
import TestTraits
import Testing

@testable import UnixHost

/// Writing to descriptors that block, without blocking.
@Suite(.timeLimit(.hang)) struct BoundedWriteTests {
  private let text = [UInt8](repeating: UInt8(ascii: "x"), count: 300_000)

  /// A pair of descriptors: what is written to the second is read from the first.
  private func withPipe(_ body: (_ reader: Int32, _ writer: Int32) throws -> Void) throws {
    var ends: [Int32] = [0, 0]
    try #require(pipe(&ends) == 0)
    defer { for end in ends { close(end) } }
    try body(ends[0], ends[1])
  }

  private func write(_ bytes: [UInt8], to descriptor: Int32, within milliseconds: Int64 = 50) -> Int {
    unixhost_write_until(descriptor, bytes, bytes.count, unixhost_now() + milliseconds * 1_000_000)
  }

  @Test func aFullPipeTakesAPartAndIsGivenUp() throws {
    try withPipe { reader, writer in
      let taken = write(text, to: writer)
      #expect(taken > 0 && taken < text.count)
      #expect(write([1], to: writer) == 0)
      // Others share the open file: its flags are as they were.
      #expect(fcntl(writer, F_GETFL) & O_NONBLOCK == 0)
      var buffer = [UInt8](repeating: 0, count: text.count)
      #expect(read(reader, &buffer, buffer.count) == taken)
      #expect(write([1], to: writer) == 1)
    }
  }

  @Test func aTerminalThatIsNotReadIsGivenUp() throws {
    let master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
    try #require(master >= 0)
    defer { close(master) }
    var number: Int32 = 0
    var unlocked: Int32 = 0
    // TIOCGPTN and TIOCSPTLCK, which Swift does not import.
    try #require(ioctl(master, 0x8004_5430, &number) == 0 && ioctl(master, 0x4004_5431, &unlocked) == 0)
    let slave = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY | O_CLOEXEC)
    try #require(slave >= 0)
    defer { close(slave) }
    let taken = write(text, to: slave)
    #expect(taken > 0 && taken < text.count)
    #expect(write(text, to: slave, within: 0) == 0)
  }

  @Test func aSocketThatIsNotReadIsGivenUp() throws {
    var ends: [Int32] = [0, 0]
    try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
    defer { for end in ends { close(end) } }
    let bytes = [UInt8](repeating: 0, count: 8_000_000)
    let taken = write(bytes, to: ends[0])
    #expect(taken > 0 && taken < bytes.count)
  }

  /// Opened anew, a file would be written from its beginning.
  @Test func aFileGoesOnWhereItWas() async throws {
    try await withTemporaryDirectory { directory in
      let path = directory.file("log")
      let file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
      try #require(file >= 0)
      #expect(write(Array("one".utf8), to: file) == 3 && write(Array("two".utf8), to: file) == 3)
      close(file)
      #expect(try readFile(path) == "onetwo")
    }
  }

  @Test func aFullDeviceAndAClosedDescriptorTakeNothing() throws {
    let full = open("/dev/full", O_WRONLY | O_CLOEXEC)
    try #require(full >= 0)
    defer { close(full) }
    #expect(write([1], to: full) == 0)
    #expect(write([1], to: -1) == 0)
  }

  /// What the helpers of the tests write, too: SIGPIPE would end all tests.
  @Test func aReaderThatIsGoneEndsNoTest() async throws {
    let program = try await runProgram(["/bin/true"], input: String(repeating: "x", count: 1_000_000))
    #expect(program.ending == .exited(0))
  }

  @Test func theReaderMayComeLater() async throws {
    var ends: [Int32] = [0, 0]
    try #require(pipe(&ends) == 0)
    let (reader, writer) = (ends[0], ends[1])
    defer { close(writer) }
    let text = text
    async let read = onThread {
      defer { close(reader) }
      var count = 0
      var buffer = [UInt8](repeating: 0, count: 4096)
      while count < text.count { count += Glibc.read(reader, &buffer, buffer.count) }
      return count
    }
    // Neither on a thread of the pool, which the other would wait for.
    async let written = onThread { unixhost_write_until(writer, text, text.count, unixhost_now() + 60_000_000_000) }
    #expect(await written == text.count)
    #expect(await read == text.count)
  }
}
