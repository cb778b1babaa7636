import AppLifecycle
import Glibc
import PseudoTerminal
import Testing

/// What the environment says: no manager, a manager that is gone, variables of another process.
extension ServiceHostTests {
  // MARK: Without a manager, and through `@main`

  @Test func withoutAManagerAllTheRestIsTheSame() async throws {
    try await ProbeSession.run("ServiceProbe") { probe in
      async let finished = runProgram(probe.arguments())
      try await probe.log.line(startingWith: "acquire end")
      try probe.signal(SIGHUP)
      try await probe.log.line(startingWith: "reload end")
      try probe.signal(SIGTERM)
      #expect(try await finished.ending == .exited(0))
      probe.expectRecords(.launchInBackground("launch"), .terminate("SIGTERM"))
    }
  }

  @Test func aManagerThatIsGoneIsSaidOnce() async throws {
    try await ProbeSession.run("ServiceProbe") { probe in
      async let finished = runProgram(
        probe.arguments(), environment: ["NOTIFY_SOCKET": probe.directory.file("no-manager")])
      try await probe.log.line(startingWith: "acquire end")
      try probe.signal(SIGTERM)
      #expect(try await finished.ending == .exited(0))
      #expect(
        try await finished.errors
          == "ServiceProbe: cannot send messages to the service manager: No such file or directory\n")
    }
  }

  @Test(arguments: ["relative", "vsock:2:1234", "/" + String(repeating: "x", count: 107), "@"])
  func aManagerThatCannotBeReachedIsSaid(address: String) async throws {
    try await ProbeSession.run("ServiceProbe") { probe in
      async let finished = runProgram(probe.arguments(), environment: ["NOTIFY_SOCKET": address])
      try await probe.log.line(startingWith: "acquire end")
      try probe.signal(SIGTERM)
      #expect(try await finished.ending == .exited(0))
      let reason = "$NOTIFY_SOCKET does not name a usable socket"
      #expect(
        try await finished.errors == "ServiceProbe: cannot send messages to the service manager: \(reason)\n")
    }
  }

  @Test func theDelegatesOwnMainIsAServiceUnderAManager() async throws {
    let finished = try await underManager(.abstract, ["--main"]) { probe, manager in
      try await manager.notice(with: "READY")
      try probe.gate.open()
      try probe.signal(SIGTERM)
      try await probe.isNotRunning()
    }
    #expect(finished.ending == .exited(0))
  }

  @Test func theDelegatesOwnMainIsATerminalProgramAtATerminal() async throws {
    try await ProbeSession.run("ServiceProbe") { probe in
      try await PseudoTerminal.run(probe.arguments("--main")) { terminal in
        try await probe.log.line(startingWith: "host terminal")
        terminal.child.signal(SIGTERM)
        #expect(try await terminal.child.nextEvent() == .exited(0))
      }
    }
  }

  // MARK: Variables that were inherited from another process

  /// A user's shell may run under a service, in a terminal multiplexer say.
  @Test(arguments: ["--main", nil], [["SYSTEMD_EXEC_PID": "1"], [:]])
  func atATerminalAnInheritedManagerIsToldNothing(option: String?, variables: [String: String]) async throws {
    try await ProbeSession.run("ServiceProbe") { probe in
      let manager = try ServiceManagerDouble(.path, in: probe.directory)
      let environment = variables.merging(["NOTIFY_SOCKET": manager.address, "WATCHDOG_USEC": "200000"]) { $1 }
      try await PseudoTerminal.run(probe.arguments() + [option].compactMap(\.self), environment: environment) {
        terminal in
        try await probe.log.line(startingWith: "host \(option == nil ? "service" : "terminal")")
        try await probe.log.line(startingWith: "acquire end")
        terminal.child.signal(SIGTERM)
        #expect(try await terminal.child.nextEvent() == .exited(0))
        try await terminal.outputHasEnded()
        // A service says it; a terminal program is what its user expects.
        #expect(terminal.text.contains("$NOTIFY_SOCKET was inherited from another process") == (option == nil))
      }
      #expect(manager.lines.isEmpty)
    }
  }

  @Test func theMainProcessOfAUnitWithATerminalIsAService() async throws {
    try await ProbeSession.run("ServiceProbe") { probe in
      let manager = try ServiceManagerDouble(.path, in: probe.directory)
      let main = ["sh", "-c", "export SYSTEMD_EXEC_PID=$$; exec \"$@\"", "-"] + probe.arguments("--main")
      try await PseudoTerminal.run(main, environment: ["NOTIFY_SOCKET": manager.address]) { terminal in
        try await probe.log.line(startingWith: "host service")
        try await manager.notice(with: "READY")
        terminal.child.signal(SIGTERM)
        #expect(try await terminal.child.nextEvent() == .exited(0))
        try await terminal.outputHasEnded()
        #expect(terminal.text.contains("the program runs as a service, because $NOTIFY_SOCKET is set"))
      }
    }
  }

  @Test(arguments: [
    ("terminal", ["--main"], "terminal"), ("service", ["--main"], "service"), ("neither", ["--main"], "terminal"),
    ("terminal", ["--host", "service"], "service"), ("service", ["--host", "terminal"], "terminal"),
  ])
  func theKindOfHostCanBeChosen(variable: String, options: [String], kind: String) async throws {
    try await ProbeSession.run("ServiceProbe") { probe in
      let environment = ["APP_LIFECYCLE_HOST": variable]
      try await PseudoTerminal.run(probe.arguments() + options, environment: environment) { terminal in
        try await probe.log.line(startingWith: "host \(kind)")
        try await probe.log.line(startingWith: "acquire end")
        terminal.child.signal(SIGTERM)
        #expect(try await terminal.child.nextEvent() == .exited(0))
        try await terminal.outputHasEnded()
        #expect(terminal.text.contains("$APP_LIFECYCLE_HOST is “neither”") == (variable == "neither"))
        #expect(!probe.log.lines.contains { $0.hasPrefix("children inherit") })
      }
    }
  }

  /// A program with privileges that its caller lacks must not write where its caller says.
  @Test func aProgramWithPrivilegesOfItsOwnReadsNoVariable() async throws {
    guard getuid() == 0 else {
      print("skipped with privileges of its own: only root may give a file to another user")
      try Test.cancel("only root may give a file to another user")
    }
    try await ProbeSession.run("ServiceProbe") { probe in
      let manager = try ServiceManagerDouble(.path, in: probe.directory)
      let copy = probe.directory.file("ServiceProbe")
      _ = try await runProgram(["cp", builtProduct("ServiceProbe"), copy])
      // All of it belongs to another user, in whose name the program runs.
      let other: uid_t = 65_534
      for path in [copy, probe.log.path, probe.gate.path, probe.directory.path] { chown(path, other, other) }
      chmod(copy, 0o4755)
      let pressure = probe.directory.file("pressure")
      mkfifo(pressure, 0o666)
      // The dynamic linker ignores LD_LIBRARY_PATH, too.
      let environment = ["NOTIFY_SOCKET": manager.address, "MEMORY_PRESSURE_WATCH": pressure]
      async let finished = runProgram(
        [copy, "--log", probe.log.path], environment: environment, inOwnSession: true)
      try await probe.log.line(startingWith: "acquire end")
      try probe.signal(SIGTERM)
      #expect(try await finished.ending == .exited(0))
      #expect(manager.lines.isEmpty)
      #expect(!probe.log.lines.contains { $0.contains(pressure) })
      #expect(
        try await finished.errors.contains("a program with set-user-ID or file capabilities ignores $NOTIFY_SOCKET"))
    }
  }

  @Test func theDelegatesOwnMainIsAServiceWithoutATerminal() async throws {
    try await ProbeSession.run("ServiceProbe") { probe in
      // `setsid` gives the program a session without a terminal, and waits for it.
      async let finished = runProgram(["setsid", "--wait"] + probe.arguments("--main"))
      try await probe.log.line(startingWith: "host service")
      try await probe.log.line(startingWith: "acquire end")
      try probe.signal(SIGTERM)
      #expect(try await finished.ending == .exited(0))
    }
  }
}
