import Glibc
import TestTraits
import Testing

@testable import Service

/// One client's connection of the daemon, at the moment at which the daemon is to end.
///
/// No test waits: the main queue, on which the connection would hear of its client, does not run meanwhile.
@Suite(.timeLimit(.hang)) @MainActor struct ServiceConnectionTests {
  /// What a connection asks of its server.
  private final class Owner: ConnectionOwner {
    private(set) var hasEnded = false

    func addToQueue(_ connection: Connection) {}
    func didEnd(_ connection: Connection) { hasEnded = true }

    func withBuffers<Result>(_ body: (UnsafeMutableRawBufferPointer, inout [UInt8]) -> Result) -> Result {
      var buffer = [UInt8](repeating: 0, count: Connection.share)
      var answer: [UInt8] = []
      return buffer.withUnsafeMutableBytes { body($0, &answer) }
    }
  }

  /// Sends to a connection, and finishes it before it has read.
  ///
  /// - Returns: What the client is answered, and whether the connection is over.
  private func finish(after sent: String) throws -> (answer: String, hasEnded: Bool) {
    var ends: [Int32] = [-1, -1]
    try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0, &ends) == 0)
    defer { close(ends[0]) }
    let owner = Owner()
    let connection = Connection(ends[1], owner: owner)
    connection.begin(with: "hello")
    #expect(write(ends[0], sent, sent.utf8.count) == sent.utf8.count)
    connection.finish()
    let hasEnded = owner.hasEnded
    connection.end()
    var bytes = [UInt8](repeating: 0, count: 64)
    let count = max(0, read(ends[0], &bytes, bytes.count))
    return (String(decoding: bytes[..<count], as: UTF8.self), hasEnded)
  }

  @Test func `An idle one is over at once`() throws {
    #expect(try finish(after: "") == ("hello\n", true))
  }

  @Test func `A line that waits unread is answered, and is the last one`() throws {
    #expect(try finish(after: "one two\n") == ("hello\n2\n", true))
    #expect(try finish(after: "one two\nthree\nfour") == ("hello\n2\n", true))
  }

  @Test func `The beginning of a line that waits unread keeps it open`() throws {
    #expect(try finish(after: "one two") == ("hello\n", false))
  }
}
