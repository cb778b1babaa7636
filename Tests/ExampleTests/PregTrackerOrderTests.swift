import Glibc
import PseudoTerminal
import TestTraits
import Testing

/// Orders that come together are one order: wrappers send theirs to the program and to its whole group.
@Suite(.serialized, .timeLimit(.hang)) struct PregTrackerOrderTests {
  /// Runs the program under `timeout` in a shell, sets a date, sends an order, and expects an orderly end.
  private func underTimeout(
    _ options: String, in shell: Shell, order: (PseudoTerminal) throws -> Void
  ) async throws {
    try shell.isInstalledOrCancel()
    try requireProgram("timeout")
    try await TrackerSession.run { tracker in
      try await shell.run(rows: 30, columns: 100) { terminal in
        terminal.line("timeout \(options) 1000 \(tracker.command)")
        try await tracker.isActive(on: terminal)
        try await tracker.setDate(on: terminal)
        try order(terminal)
        try await terminal.prompt(within: .seconds(60))
        #expect(try await terminal.status(in: shell) == 0)
        #expect(terminal.screen.isLeft)
      }
      try await tracker.expectOrderlyEnd()
    }
  }

  @Test(arguments: Shell.allCases) func `One Ctrl-C under timeout ends it in order`(shell: Shell) async throws {
    try await underTimeout("--foreground", in: shell) { $0.control("C") }
  }

  /// The time of `timeout` is up, and its status is the program's own.
  ///
  /// SIGALRM says when: `timeout` takes it for that. It signals the program and then the group, at once: the kernel may deliver both as one signal.
  @Test(arguments: Shell.allCases, ["", "-s INT", "-k 300", "--foreground", "-s HUP"])
  func `timeout ends it in order`(shell: Shell, options: String) async throws {
    try await underTimeout("--preserve-status \(options)", in: shell) { terminal in
      let wrapper = try #require(ProcessTable.members(ofSession: terminal.child.pid, running: "timeout").first)
      kill(wrapper.pid, SIGALRM)
    }
  }

  /// Plays a scenario whose signals must all be sent within ``SignalStorm/limit``, again where the machine was too slow for that.
  private func inTime(_ scenario: () async throws -> Bool) async throws {
    for _ in 0..<5 where try await scenario() { return }
    Issue.record("the machine sent the last signal of an order too late to be a copy of the first one, five times")
  }

  /// A wrapper that sends what it gets to its child and to the group, as `npm`, `make` and the first process of a container.
  ///
  /// The pause between the two, in milliseconds, is the scenario's: without one the kernel may deliver both as one signal. A
  /// wrapper that a busy machine has held up says so: its second signal may be an order of its own.
  @Test(arguments: [SIGTERM, SIGINT], [0, 5, 50]) func `A wrapper that forwards to child and group`(
    signal: Int32, pause: Int
  ) async throws {
    try requireProgram("python3")
    try await inTime {
      try await TrackerSession.run { tracker in
        try tracker.directory.write(
          """
          import os, signal, subprocess, sys, time
          child = subprocess.Popen(sys.argv[1:])
          def forward(number, frame):
            signal.signal(number, signal.SIG_IGN)
            start = time.monotonic()
            child.send_signal(number)
            time.sleep(\(pause) / 1000)
            os.killpg(0, number)
            if time.monotonic() - start > \(SignalStorm.limit / .seconds(1)):
              open("\(tracker.directory.file("late"))", "w").close()
          signal.signal(signal.SIGTERM, forward)
          signal.signal(signal.SIGINT, forward)
          sys.exit(child.wait())
          """, to: "wrapper.py")
        let arguments = ["python3", tracker.directory.file("wrapper.py")] + tracker.arguments()
        let isInTime = try await PseudoTerminal.run(arguments, rows: 30, columns: 100) { terminal in
          try await tracker.isActive(on: terminal)
          try await tracker.setDate(on: terminal)
          terminal.child.signal(signal)
          let ending = try await terminal.child.ending()
          try await terminal.outputHasEnded()
          guard access(tracker.directory.file("late"), F_OK) != 0 else { return false }
          #expect(ending == .exited(0))
          #expect(terminal.screen.isLeft && terminal.modes == terminal.initialModes)
          return true
        }
        if isInTime { try await tracker.expectOrderlyEnd() }
        return isInTime
      }
    }
  }

  /// Every millisecond, for less than half a second.
  private static let storm = SignalStorm(for: .milliseconds(300), pause: 1_000)

  /// A storm that is shorter than half a second, whatever part of the tear-down it meets, up to the end of the process.
  @Test(arguments: [SIGTERM, SIGINT]) func `A storm of one order is one order`(signal: Int32) async throws {
    try await inTime {
      try await TrackerSession.run { tracker in
        let isInTime = try await PseudoTerminal.run(tracker.arguments(), rows: 30, columns: 100) { terminal in
          try await tracker.isActive(on: terminal)
          try await tracker.setDate(on: terminal)
          let child = terminal.child
          guard await onThread({ Self.storm.run { child.signal(signal) } }) else { return false }
          #expect(try await child.ending() == .exited(0))
          try await terminal.outputHasEnded()
          #expect(terminal.screen.isLeft && terminal.modes == terminal.initialModes)
          return true
        }
        if isInTime { try await tracker.expectOrderlyEnd() }
        return isInTime
      }
    }
  }

  @Test func `timeout ends the service in order`() async throws {
    try requireProgram("timeout")
    try await withTemporaryDirectory { directory in
      let manager = try ServiceManagerDouble(.path, in: directory)
      let reserved = try ReservedPort()
      async let finished = runProgram(
        ["timeout", "--preserve-status", "1000", builtProduct("Service"), "--port", "\(reserved.port)"],
        environment: ["NOTIFY_SOCKET": manager.address])
      let service = try await manager.notice(with: "READY").sender
      let wrapper = try #require(ProcessTable.entry(service)?.parent)
      kill(wrapper, SIGALRM)
      try await manager.notice(with: "STOPPING")
      #expect(try await finished.ending == .exited(0))
    }
  }

  @Test func `A storm of one order is one order for the service, too`() async throws {
    try await inTime {
      try await withTemporaryDirectory { directory in
        let manager = try ServiceManagerDouble(.path, in: directory)
        let reserved = try ReservedPort()
        async let finished = runProgram(
          [builtProduct("Service"), "--port", "\(reserved.port)"], environment: ["NOTIFY_SOCKET": manager.address])
        let service = try await manager.notice(with: "READY").sender
        // A client in the middle of its line: the service drains as long as that lasts.
        let client = try LineClient(port: reserved.port)
        #expect(try await client.line() == "hello")
        try client.send("one two")
        // The rest of the line is sent by the thread of the storm: the service waits for it four seconds, and this task may have
        // to wait longer for a thread.
        let isInTime = try await onThread {
          Result { () throws -> Bool in
            guard Self.storm.run({ kill(service, SIGTERM) }) else { return false }
            try client.send(" three\n")
            return true
          }
        }.get()
        guard isInTime else {
          kill(service, SIGKILL)
          _ = try await finished
          return false
        }
        #expect(try await client.line() == "3")
        #expect(try await finished.ending == .exited(0))
        return true
      }
    }
  }
}
