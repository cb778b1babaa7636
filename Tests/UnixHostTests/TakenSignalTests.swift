import Glibc
import PseudoTerminal
import TestTraits
import Testing

/// A library of the program traps the host's signals itself.
@Suite(.serialized, .timeLimit(.hang)) struct TakenSignalTests {
  /// What the host says, without the names of files.
  private static let cure = "Configure the library without signals of its own"

  /// Runs the probe with a library that takes its signals; the body ends it, once the host has them again.
  private func run(_ taker: String, _ options: [String] = [], body: (ProbeSession) async throws -> Void) async throws {
    try await ProbeSession.run("ServiceProbe") { probe in
      let manager = try ServiceManagerDouble(.path, in: probe.directory)
      async let finished = runProgram(
        probe.arguments() + ["--taker", taker] + options, environment: ["NOTIFY_SOCKET": manager.address],
        inOwnSession: true)
      try await probe.log.line(startingWith: "signals are the host's")
      try await manager.notice(with: "READY")
      try await body(probe)
      #expect(try await finished.ending == .exited(0))
      let errors = try await finished.errors
      #expect(errors.split(separator: "\n").allSatisfy { $0.contains(Self.cure) }, "\(errors)")
      for name in ["SIGTERM", "SIGINT"] { #expect(errors.split(separator: name).count == 2, "\(errors)") }
      #expect(!probe.log.lines.contains("library has seen a signal"))
    }
  }

  /// A signalfd takes a signal now and then only, so one round proves nothing.
  @Test(arguments: ["handler", "source", "source-again", "ignoring"], [SIGTERM, SIGINT])
  func theHostTakesThemBackAndEndsInOrder(taker: String, signal: Int32) async throws {
    for _ in 0..<(taker.hasPrefix("source") ? 10 : 1) {
      try await run(taker) { probe in
        try probe.signal(signal)
        try await probe.isNotRunning()
        probe.expectRecords(
          .launchInBackground("launch"), .terminate(signal == SIGTERM ? "SIGTERM" : "SIGINT"))
      }
    }
  }

  /// The order goes to the library alone, whose run returns; or the host was faster, and has it.
  @Test(arguments: ["handler", "source"]) func anOrderBeforeTheHostHasLookedEndsTheProgram(taker: String) async throws {
    for _ in 0..<repetitions(default: 5) {
      try await ProbeSession.run("ServiceProbe") { probe in
        let options = ["--taker", taker, "--taker-raises", "--budget", ProbeSession.longBudget]
        let finished = try await runProgram(probe.arguments() + options, inOwnSession: true)
        #expect(finished.ending == .exited(0))
        probe.expectRecords(.launchInBackground("launch"), .terminate("SIGTERM"))
        #expect(finished.errors.contains(Self.cure), "\(finished.errors)")
        #expect(
          finished.errors.contains("“library” returned while other code had SIGTERM")
            || !probe.log.lines.contains("library has seen a signal"), "\(finished.errors)")
      }
    }
  }

  /// Its set belongs to the process that has started the program, too.
  @Test func `An inherited signalfd keeps its signals`() async throws {
    try await ProbeSession.run("ServiceProbe") { probe in
      let inherited = try SignalDescriptor(for: SIGTERM)
      let signals = try #require(try inherited.signals)
      let errors = try LineFile(probe.directory.file("errors"))
      let file = open(errors.path, O_WRONLY | O_APPEND | O_CLOEXEC)
      defer { close(file) }
      let child = try ChildProcess(
        probe.arguments(), environment: bareEnvironment, descriptors: (inherited.number, -1, file), directory: nil,
        inOwnSession: true)
      try await running {
        try await probe.log.line(startingWith: "acquire end")
        // The host has looked after the launch when it reloads.
        child.signal(SIGHUP)
        try await probe.log.line(startingWith: "reload end")
        child.signal(SIGTERM)
        #expect(try await child.ending() == .exited(0))
      } finally: {
        await child.end()
      }
      #expect(try inherited.signals == signals)
      #expect(errors.lines == [])
    }
  }

  @Test func aHandlerThatStillRunsLosesItsSignalsToo() async throws {
    try await withTemporaryDirectory { directory in
      let gate = try Gate(directory.file("taker"))
      try await run("busy", ["--taker-gate", gate.path]) { probe in
        // The gate stays shut: the handler that was replaced runs until the end of the process.
        try probe.signal(SIGTERM)
        try await probe.isNotRunning()
      }
    }
    try await withTemporaryDirectory { directory in
      let gate = try Gate(directory.file("taker"))
      try await run("busy", ["--taker-gate", gate.path]) { probe in
        try gate.open()
        try probe.signal(SIGTERM)
        try await probe.isNotRunning()
      }
    }
  }

  /// Also at a terminal, where the job's signals come.
  @Test(arguments: ["handler", "source", "ignoring"]) func aTerminalProgramStopsAndEnds(taker: String) async throws {
    try await Shell.bash.runProbe { probe, terminal in
      try await probe.launch("--taker \(taker)", on: terminal)
      try await probe.log.line(startingWith: "signals are the host's")
      try await terminal.stopJob(in: .bash)
      try await probe.comeBack(visit: 2, on: terminal)
      try probe.signal(SIGTERM)
      try await probe.isNotRunning()
      try await terminal.prompt()
      #expect(terminal.screen.isLeftInOrder(at: .bash))
      #expect(terminal.text.contains(Self.cure))
    }
  }
}
