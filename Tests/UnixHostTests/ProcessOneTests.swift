import Glibc
import PseudoTerminal
import TestTraits
import Testing

/// A service that is process 1 of a name space of its own, as in a container without an init.
@Suite(.serialized, .timeLimit(.hang)) struct ProcessOneTests {
  /// Runs the probe as process 1, under a manager, beside a process that it adopts; the body ends it.
  ///
  /// The manager is outside, so it knows the number of the service that the test needs for its signals.
  private func run(
    body: (ProbeSession, _ service: Int32, _ orphanGate: Gate) async throws -> Void
  ) async throws -> FinishedProgram {
    guard getuid() == 0 else {
      print("skipped as process 1: only root may make a name space here")
      try Test.cancel("only root may make a name space here")
    }
    return try await ProbeSession.run("ServiceProbe") { probe in
      let manager = try ServiceManagerDouble(.path, in: probe.directory)
      let orphanGate = try Gate(probe.directory.file("orphan"))
      let script = "ulimit -c 0; (head -c 1 <'\(orphanGate.path)' >/dev/null &); exec \"$@\""
      async let finished = runProgram(
        ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child", "sh", "-c", script, "-"] + probe.arguments(),
        environment: ["NOTIFY_SOCKET": manager.address, "SWIFT_BACKTRACE": "enable=no"], inOwnSession: true)
      let ready = try await manager.notice(with: "READY")
      // To the manager, which is outside, the number would mean another process.
      #expect(ready.value("MAINPID") == nil)
      #expect(try probe.pid() == 1)
      try await body(probe, ready.sender, orphanGate)
      return try await finished
    }
  }

  /// The status is that of the service, as `docker` or `unshare` shows it; it has no default actions.
  @Test(arguments: [(SIGTERM, true), (SIGINT, true), (SIGQUIT, false), (SIGUSR1, false)])
  func anOrderEndsItWithAStatus(signal: Int32, isInOrder: Bool) async throws {
    let finished = try await run { probe, service, _ in
      kill(service, signal)
      if isInOrder { try await probe.isNotRunning() }
    }
    #expect(finished.ending == .exited(isInOrder ? 0 : 128 + signal))
    #expect(finished.errors == "")
  }

  /// The kernel drops a signal of its own name space that process 1 does not handle, but not one that it does.
  @Test func anOrderFromInsideEndsItToo() async throws {
    let finished = try await run { probe, service, _ in
      let inside = try await runProgram(["nsenter", "--target", "\(service)", "--pid", "--mount", "kill", "-TERM", "1"])
      // When process 1 ends, the kernel kills the others of its name space; the sender may still be one of them.
      #expect([.exited(0), .killed(SIGKILL)].contains(inside.ending), "\(inside.errors)")
      try await probe.isNotRunning()
    }
    #expect(finished.ending == .exited(0))
  }

  /// Reaping all children would take the statuses of the program's own children, so a host reaps none.
  @Test func anAdoptedProcessThatHasEndedStaysUntilTheEnd() async throws {
    let finished = try await run { probe, service, orphanGate in
      let children = try fileNames(in: "/proc").compactMap { Int32($0) }.filter {
        ProcessTable.entry($0)?.parent == service
      }
      let orphan = try #require(children.first)
      #expect(children.count == 1)
      try orphanGate.open()
      try await ProcessTable.ending(of: orphan)
      // It goes on serving beside it.
      kill(service, SIGHUP)
      try await probe.log.line(startingWith: "reload end")
      #expect(ProcessTable.entry(orphan)?.isZombie == true)
      kill(service, SIGTERM)
      try await probe.isNotRunning()
    }
    #expect(finished.ending == .exited(0))
  }
}
