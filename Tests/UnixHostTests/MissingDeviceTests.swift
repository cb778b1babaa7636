import Glibc
import PseudoTerminal
import TestTraits
import Testing

/// A terminal without a usable `/dev/tty`, as in a chroot or a small container: the standard streams lead to it.
@Suite(.serialized, .timeLimit(.hang)) struct MissingDeviceTests {
  /// What is missing, as a command in a mount namespace of its own.
  enum Lack: String, Sendable, CaseIterable {
    /// `/dev/tty` is another file.
    case rightFile = "mount --bind /dev/null /dev/tty"
    /// The terminal has no name that can be opened, either.
    case names = "mount -t tmpfs none /dev"
    /// Nor can the open file be opened once more.
    case openFiles = "mount -t tmpfs none /dev && mount -t tmpfs none /proc/$$/fd"

    static func isPossibleOrCancel() async throws {
      let attempt = try await runProgram(["unshare", "--mount", "true"])
      guard attempt.ending != .exited(0) else { return }
      print("skipped: a mount namespace cannot be made here: \(attempt.errors)")
      try Test.cancel("a mount namespace cannot be made here")
    }

    func command(_ command: String) -> String { "unshare --mount sh -c '\(rawValue) && exec \"$@\"' - \(command)" }
  }

  @Test(arguments: Lack.allCases) func theStandardStreamsLeadToTheTerminal(lack: Lack) async throws {
    try await Lack.isPossibleOrCancel()
    try await ProbeSession.run { probe in
      try await Shell.dash.run { terminal in
        terminal.line(lack.command(probe.command("--main")))
        try await probe.isActive(visit: 1, on: terminal)
        #expect(terminal.screen.showsAlternate && terminal.modes?.isCanonical == false)
        // The shell shares its descriptors, so they must still wait.
        #expect(try waits(terminal.child.pid))
        try await terminal.stopJob(in: .dash)
        #expect(terminal.screen.isLeftInOrder())
        try await probe.comeBack(visit: 2, on: terminal)
        terminal.send("q")
        try await terminal.prompt()
        #expect(try await terminal.status(in: .dash) == 0)
        #expect(terminal.screen.isLeftInOrder())
      }
      #expect(probe.log.lines.contains("state suspended suspended Ctrl-Z"))
    }
  }

  /// Whether a write of a process to its standard input waits, as all processes that share the open file expect.
  private func waits(_ pid: Int32) throws -> Bool {
    let file = try #require(fopen("/proc/\(pid)/fdinfo/0", "r"))
    defer { fclose(file) }
    var text = [CChar](repeating: 0, count: 256)
    while fgets(&text, Int32(text.count), file) != nil {
      let words = String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        .split(whereSeparator: \.isWhitespace)
      if words.first == "flags:", let flags = Int32(words[1], radix: 8) { return flags & O_NONBLOCK == 0 }
    }
    return true
  }

  /// A descriptor that is shared and waits must not make the host wait.
  @Test(arguments: Lack.allCases) func aTerminalThatIsNotReadDoesNotHoldUpTheHost(lack: Lack) async throws {
    try await Lack.isPossibleOrCancel()
    try await Shell.dash.runProbe { probe, terminal in
      terminal.line(lack.command(probe.command("--budget 60000")))
      try await probe.isActive(visit: 1, on: terminal)
      try await probe.endUnread(on: terminal)
      #expect(try await terminal.status(in: .dash) == 0)
      #expect(terminal.screen.isLeftInOrder())
    }
  }

  /// A terminal of another session is not the program's, and the message says why it found none.
  @Test func theReasonIsPrinted() async throws {
    try await Lack.isPossibleOrCancel()
    try await Shell.dash.runProbe { probe, terminal in
      terminal.line(Lack.names.command("setsid -w \(probe.command("--main"))"))
      try await terminal.wait(for: "/dev/tty cannot be opened (No such file or directory)")
      try await probe.log.line(startingWith: "notification UIApplicationDidFinishLaunchingNotification background")
      try probe.signal(SIGTERM)
      try await probe.isNotRunning()
      try await terminal.prompt()
    }
  }
}
