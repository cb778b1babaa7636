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

  /// Gives up in a child what it has from its parent: descriptors, for whose end other tests wait, handlers that would
  /// start a backtracer, and a mask that would keep back the alarm.
  private static func leaveParent() {
    for descriptor in 3..<Int32(4096) { close(descriptor) }
    for fault in [SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV] { signal(fault, SIG_DFL) }
    var none = sigset_t()
    sigemptyset(&none)
    sigprocmask(SIG_SETMASK, &none, nil)
  }

  /// Forks a child that ends with status 3 when a deadline has passed; returns the status.
  private func statusOfChildWithDeadline() throws -> Int32 {
    let child = try Self.fork()
    if child == 0 {
      Self.leaveParent()
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
