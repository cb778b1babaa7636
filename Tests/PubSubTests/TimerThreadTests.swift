import Foundation
import TestTraits
import Testing

@testable import Scheduling

/// The thread on which deadlines pass, where a child process has none.
@Suite(.timeLimit(.hang)) struct TimerThreadTests {
  /// `fork`, which Swift does not offer.
  private static func fork() throws -> pid_t {
    typealias Fork = @convention(c) () -> pid_t
    return unsafeBitCast(try #require(dlsym(nil, "fork")), to: Fork.self)()
  }

  /// Forks a child that ends with status 3 when a deadline has passed; returns the status.
  private func statusOfChildWithDeadline() throws -> Int32 {
    let child = try Self.fork()
    if child == 0 {
      alarm(10)
      _ = TimerThread.shared.set(after: .zero, on: .continuous) { _exit(3) }
      while true { pause() }
    }
    var status: Int32 = 0
    while waitpid(child, &status, 0) < 0, errno == EINTR {}
    return status
  }

  @Test func aForkedChildHasAThreadOfItsOwn() throws {
    #expect(TimerThread.shared.start())
    // Another thread may hold a lock at the moment of the fork, which the child then waits for in vain.
    #expect(try (0..<20).contains { _ in try statusOfChildWithDeadline() == 3 << 8 })
  }
}
