import Glibc
import PseudoTerminal
import TestTraits
import Testing

/// What a user types for the shell reaches the shell, whenever it is typed and however the program leaves; what was typed for the
/// program does not.
@Suite(.serialized, .timeLimit(.hang)) struct TypeAheadTests {
  /// A way in which a program leaves its terminal to the shell.
  enum Way: String, Sendable, CaseIterable {
    case controlZ, controlC, key, stopSignal, terminateSignal, interruptSignal, crash, exit, endingSignal

    /// What the user presses; nil for a signal of a process.
    var key: String? {
      switch self {
      case .controlZ: "\u{1A}"
      case .controlC: "\u{3}"
      case .key: "q"
      case .crash: "c"
      case .exit: "x"
      case .stopSignal, .terminateSignal, .interruptSignal, .endingSignal: nil
      }
    }

    private var signal: Int32 {
      switch self {
      case .stopSignal: SIGTSTP
      case .interruptSignal: SIGINT
      case .endingSignal: SIGUSR1
      default: SIGTERM
      }
    }

    func leave(_ probe: ProbeSession, _ terminal: PseudoTerminal) throws {
      if let key { terminal.send(key) } else { try probe.signal(signal) }
    }

    /// Ways with a tear-down, during which the user can type.
    static let withTearDown: [Way] = [.controlZ, .controlC, .key, .stopSignal, .terminateSignal, .interruptSignal]
    /// Keys after which the program reads nothing more.
    static let keysOfTheHost: [Way] = [.controlZ, .controlC]
    /// Ways without the host's thread, which could read what was typed.
    static let atOnce: [Way] = [.endingSignal, .terminateSignal]
  }

  /// What is typed; the answer does not occur in it, nor in its echo.
  private static let command = "printf typed-%s 42\r"
  private static let answer = "typed-42"

  private func withProbe(
    in shell: Shell, _ options: String = "", _ body: (ProbeSession, PseudoTerminal) async throws -> Void
  ) async throws {
    try shell.isInstalledOrCancel()
    try await ProbeSession.run { probe in
      try await shell.run(environment: ["SWIFT_BACKTRACE": "enable=no"], directory: probe.directory.path) { terminal in
        // No core file of a crash that is meant.
        terminal.line("ulimit -c 0")
        try await terminal.prompt()
        try await probe.launch(options, on: terminal)
        try await body(probe, terminal)
      }
    }
  }

  @Test(arguments: Shell.allCases, Way.withTearDown)
  func whatIsTypedDuringATearDownIsForTheShell(shell: Shell, way: Way) async throws {
    try await typeDuringTearDown(shell, way)
  }

  /// The same where the kernel makes the signal.
  @Test(arguments: [Shell.bash, .dash], Way.keysOfTheHost)
  func whatIsTypedAfterAKeyOfTheKernelIsForTheShell(shell: Shell, way: Way) async throws {
    try await typeDuringTearDown(shell, way, "--cooked")
  }

  private func typeDuringTearDown(_ shell: Shell, _ way: Way, _ option: String = "") async throws {
    try await ProbeSession.run { gated in
      try await withProbe(in: shell, "\(gated.gateOptions) \(option)") { probe, terminal in
        try way.leave(probe, terminal)
        try await probe.log.line(startingWith: "release begin")
        try await terminal.waitForScreen("the shell's own") { !$0.showsAlternate }
        terminal.send(Self.command)
        try gated.gate.open()
        try await terminal.wait(for: Self.answer)
      }
    }
  }

  @Test(arguments: Shell.allCases, Way.keysOfTheHost)
  func whatFollowsAKeyOfTheHostIsForTheShell(shell: Shell, way: Way) async throws {
    try await withProbe(in: shell) { probe, terminal in
      terminal.send(way.key! + Self.command)
      if shell == .dash || shell == .zsh {
        // Without a line editor a shell reads lines, and a return key that was pressed in raw mode ends none.
        try await terminal.prompt()
        terminal.send("\r")
      }
      try await terminal.wait(for: Self.answer)
      #expect(!probe.log.lines.contains { $0.hasPrefix("input ") })
    }
  }

  /// A key that makes a signal may come as a sequence, and the sequence in pieces.
  @Test(arguments: [["\u{1B}[122;5u"], ["\u{1B}[12", "2;5u"]]) func aKeyInAnotherFormIsAKeyOfTheHost(
    pieces: [String]
  ) async throws {
    try await withProbe(in: .bash, "--escape-delay 10000") { probe, terminal in
      for piece in pieces.dropLast() { terminal.send(piece) }
      terminal.send(pieces.last! + Self.command)
      try await terminal.wait(for: Self.answer)
      #expect(!probe.log.lines.contains { $0.hasPrefix("input ") })
    }
  }

  /// The question may be answered by a key: while it is open, the program reads.
  @Test func whatFollowsControlCIsTheAnswerToTheQuestion() async throws {
    try await withProbe(in: .dash, "--ask") { probe, terminal in
      terminal.send("\u{3}y")
      try await probe.log.line(startingWith: "input 79")
      try await terminal.prompt()
      #expect(try await terminal.status(in: .dash) == 0)
    }
  }

  @Test(arguments: Shell.allCases, Way.allCases)
  func whatIsTypedAfterwardsIsForTheShell(shell: Shell, way: Way) async throws {
    try await withProbe(in: shell) { probe, terminal in
      try way.leave(probe, terminal)
      try await terminal.waitForScreen("the shell's own") { !$0.showsAlternate }
      terminal.send(Self.command)
      try await terminal.wait(for: Self.answer)
    }
  }

  /// A program that does not read, here because it is stopped without its shell's knowledge, leaves keys unread.
  @Test(arguments: [Shell.bash, .dash], Way.atOnce)
  func whatWasTypedForTheProgramIsNotForTheShell(shell: Shell, way: Way) async throws {
    try await ProbeSession.run { probe in
      try await shell.run(directory: probe.directory.path) { terminal in
        terminal.line("sh -c '\(probe.command().replacing("'", with: ""))'; :")
        try await probe.isActive(visit: 1, on: terminal)
        let pid = try probe.pid()
        try probe.signal(SIGSTOP)
        await ProcessTable.stopping(of: pid)
        terminal.send(Self.command)
        try way.leave(probe, terminal)
        try probe.signal(SIGCONT)
        try await terminal.prompt()
        // The shell reads this after anything that was left unread.
        terminal.line("echo last-$((1 + 1))")
        let printed = try await terminal.wait(for: "last-2")
        #expect(!printed.contains(Self.answer), "\(printed.debugDescription)")
      }
    }
  }
}
