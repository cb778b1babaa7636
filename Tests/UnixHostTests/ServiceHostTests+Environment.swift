import AppLifecycle
import Glibc
import PseudoTerminal
import Testing

@testable import UnixHost

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
      let copy = probe.directory.file("copy")
      _ = try await runProgram(["cp", probe.program, copy])
      // All of it belongs to another user, in whose name the program runs.
      let other: uid_t = 65_534
      for path in [copy, probe.log.path, probe.gate.path, probe.directory.path] { chown(path, other, other) }
      chmod(copy, 0o4755)
      let pressure = probe.directory.file("pressure")
      mkfifo(pressure, 0o666)
      // The dynamic linker ignores LD_LIBRARY_PATH, too.
      let environment = [
        "NOTIFY_SOCKET": manager.address, "MEMORY_PRESSURE_WATCH": pressure, "LISTEN_FDS": "1", "LISTEN_PID": "1",
      ]
      async let finished = runProgram(
        [copy, "--log", probe.log.path], environment: environment, inOwnSession: true)
      try await probe.log.line(startingWith: "acquire end")
      try probe.signal(SIGTERM)
      #expect(try await finished.ending == .exited(0))
      #expect(manager.lines.isEmpty)
      #expect(!probe.log.lines.contains { $0.contains(pressure) })
      for name in ["$NOTIFY_SOCKET", "$LISTEN_FDS"] {
        #expect(
          try await finished.errors.contains("a program with set-user-ID or file capabilities ignores \(name)"))
      }
    }
  }

  // MARK: Sockets that a manager passes

  /// Runs the probe with two open descriptors and these variables, and ends it once it is ready.
  ///
  /// - Returns: its log and what it wrote to standard error.
  private func run(activation variables: String) async throws -> (log: [String], errors: String) {
    try await ProbeSession.run("ServiceProbe") { probe in
      // What `exec` replaces keeps its number and its descriptors.
      let script = "exec 3</dev/null 4</dev/null; export \(variables); exec \"$@\""
      async let finished = runProgram(["sh", "-c", script, "-"] + probe.arguments("--listen"))
      try await probe.log.line(startingWith: "acquire end")
      try probe.signal(SIGTERM)
      #expect(try await finished.ending == .exited(0))
      #expect(!probe.log.lines.contains { $0.hasPrefix("children inherit") })
      return (probe.log.lines, try await finished.errors)
    }
  }

  @Test func theSocketsOfTheManagerAreItsOwn() async throws {
    let (log, errors) = try await run(activation: "LISTEN_PID=$$ LISTEN_FDS=2 LISTEN_FDNAMES=words:admin")
    for line in ["socket words", "socket admin", "descriptor 3 is kept", "descriptor 4 is kept"] {
      #expect(log.contains(line), "\(log)")
    }
    #expect(errors == "")
  }

  @Test(arguments: [
    ("LISTEN_PID=1 LISTEN_FDS=1", "$LISTEN_PID or $LISTEN_PIDFDID does not name this process"),
    ("LISTEN_PID=$$ LISTEN_FDS=2000000000", "$LISTEN_FDS is 2000000000, and 2 descriptors"),
    // What the process itself has opened was not passed.
    ("LISTEN_PID=$$ LISTEN_FDS=3", "$LISTEN_FDS is 3, and 2 descriptors"),
    ("LISTEN_PID=$$ LISTEN_FDS=99999999999999999999", "$LISTEN_FDS is “99999999999999999999”"),
  ])
  func theSocketsOfAnotherProcessAreNotTouched(variables: String, reason: String) async throws {
    let (log, errors) = try await run(activation: variables)
    #expect(!log.contains { $0.hasPrefix("socket ") })
    for line in ["descriptor 3 is inherited", "descriptor 4 is inherited"] { #expect(log.contains(line), "\(log)") }
    #expect(errors.hasPrefix("ServiceProbe: the sockets of the service manager are not used: \(reason)"), "\(errors)")
    #expect(errors.split(separator: "\n").count == 1, "\(errors)")
  }

  /// Such as `sd_listen_fds` does with the sockets of the manager, if it is called first.
  @Test func aSocketMayBePassedThoughItIsCloseOnExecByNow() {
    let socket = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    let file = open("/dev/null", O_RDONLY)
    defer { for descriptor in [socket, file] { close(descriptor) } }
    #expect([socket, file, -1].map(ActivationSocket.mayBePassed) == [true, true, false])
    for descriptor in [socket, file] { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
    #expect([socket, file].map(ActivationSocket.mayBePassed) == [true, false])
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
