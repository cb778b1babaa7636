import Glibc
import PseudoTerminal
import TestTraits
import Testing

/// What a program switches on in its terminal is off in every way out, and on again with `fg`; seen from outside, mode by mode.
@Suite(.serialized, .timeLimit(.hang)) struct TerminalModesTests {
  /// A way out of the terminal.
  enum Way: Sendable, Hashable {
    case key(Character), control(Character), signal(Int32), signals(Int32, Int32)

    static let all: [Way] = [
      .key("q"), .key("w"), .key("c"), .key("f"), .key("x"), .control("C"), .control("Z"), .control("\\"),
      .signal(SIGTERM), .signal(SIGINT), .signal(SIGHUP), .signal(SIGQUIT), .signal(SIGTSTP), .signal(SIGUSR1),
      .signal(SIGALRM), .signal(SIGABRT), .signal(SIGSEGV), .signals(SIGHUP, SIGTERM),
    ]

    /// Whether the program can come back.
    var isStop: Bool { self == .control("Z") || self == .signal(SIGTSTP) }
  }

  private func isOn(_ screen: TerminalScreen) -> Bool {
    screen.modes.isSuperset(of: [1003, 1004, 1006, 1016, 2004, 2031]) && screen.keyFlags == 5
      && screen.alternateKeyFlags.count == 1 && screen.cursorShape == 6 && screen.title == "the probe"
      && screen.savedTitles.count == 1
  }

  private func isOff(_ screen: TerminalScreen, in shell: Shell, title: String) -> Bool {
    screen.isLeftInOrder(at: shell) && screen.title == title
  }

  private static let environment = ["SWIFT_BACKTRACE": "enable=no"]

  @Test(arguments: Way.all) func everyWayOutEndsTheModes(way: Way) async throws {
    try await ProbeSession.run { probe in
      try await Shell.dash.run(environment: Self.environment) { terminal in
        terminal.line("ulimit -c 0; printf '\\033]2;the shell\\007'")
        try await terminal.prompt()
        try await terminal.waitForScreen("the shell's title") { $0.title == "the shell" }
        try await probe.launch("--modes", on: terminal)
        try await terminal.waitForScreen("all modes", where: isOn)
        switch way {
        case .key(let key): terminal.send(String(key))
        case .control(let key): terminal.control(key)
        case .signal(let signal): try probe.signal(signal)
        case .signals(let first, let second):
          try probe.signal(first)
          try probe.signal(second)
        }
        if way.isStop {
          try await terminal.jobHasStopped(in: .dash)
          #expect(isOff(terminal.screen, in: .dash, title: "the shell"), "\(terminal.screen)")
          try await probe.comeBack(visit: 2, on: terminal)
          try await terminal.waitForScreen("all modes", where: isOn)
          terminal.send("q")
        }
        try await terminal.prompt()
        #expect(isOff(terminal.screen, in: .dash, title: "the shell"), "\(terminal.screen)")
      }
    }
  }

  @Test(arguments: Shell.allCases) func everyShellHasItsTerminalBack(shell: Shell) async throws {
    try await shell.runProbe { probe, terminal in
      try await probe.launch("--modes", on: terminal)
      try await terminal.waitForScreen("all modes", where: isOn)
      try await terminal.stopJob(in: shell)
      #expect(terminal.screen.isLeftInOrder(at: shell), "\(terminal.screen)")
      try await probe.comeBack(visit: 2, on: terminal)
      try await probe.log.line(startingWith: "display")
      try await terminal.waitForScreen("all modes", where: isOn)
      // At a SIGSTOP they stay, and what the terminal stacks must not be stacked twice then.
      try probe.signal(SIGSTOP)
      try await terminal.jobHasStopped(in: shell)
      terminal.plainLine("fg")
      try await probe.log.line(startingWith: "display")
      try await terminal.waitForScreen("all modes", where: isOn)
      terminal.send("q")
      try await terminal.prompt()
      #expect(terminal.screen.isLeftInOrder(at: shell), "\(terminal.screen)")
    }
  }

  /// A program without a screen has modes, too.
  @Test func aProgramWithoutAScreenEndsItsModes() async throws {
    try await Shell.dash.runProbe { probe, terminal in
      try await probe.launch("--modes --plain", on: terminal)
      try await terminal.waitForScreen("all modes") {
        $0.modes.contains(1003) && $0.keyFlags == 5 && $0.cursorShape == 6
      }
      terminal.send("q")
      try await terminal.prompt()
      #expect(terminal.screen.isLeftInOrder(), "\(terminal.screen)")
    }
  }

  // MARK: What was written before

  /// What the program wrote before it asked for its end is written, and then the sequences that leave.
  @Test func whatWasQueuedComesBeforeTheLeavingSequences() async throws {
    try await Shell.dash.runProbe { probe, terminal in
      try await probe.launch("--modes --budget 60000", on: terminal)
      // The terminal takes nothing, so that all of it waits in the queue.
      try await terminal.pauseReading()
      try terminal.fill()
      terminal.send("w")
      try await probe.isNotRunning()
      terminal.resumeReading()
      try await terminal.prompt()
      let written = try #require(terminal.text.firstRange(of: "\u{1B}[?7777hlast words"))
      let left = try #require(terminal.text.firstRange(of: "\u{1B}[?1049l"))
      #expect(written.upperBound <= left.lowerBound)
      #expect(try await terminal.status(in: .dash) == 0)
      #expect(terminal.screen.isLeftInOrder(), "\(terminal.screen)")
    }
  }

  /// A thread that ends the process may meet another one that leaves the screen.
  @Test func twoThreadsThatLeaveWriteEachSequenceOnce() async throws {
    try await ProbeSession.run { probe in
      try await PseudoTerminal.run(probe.arguments("--modes")) { terminal in
        try await probe.isActive(visit: 1, on: terminal)
        try await terminal.pauseReading()
        try terminal.fill()
        terminal.send("R")
        try await probe.log.line(startingWith: "left twice")
        terminal.resumeReading()
        #expect(try await terminal.child.ending() == .exited(0))
        try await terminal.outputHasEnded()
        #expect(terminal.text.ranges(of: "\u{1B}[?1049l").count == 1)
        #expect(terminal.screen.isLeftInOrder(), "\(terminal.screen)")
      }
    }
  }

  /// Text that is queued right before the program itself calls `exit` is written, too.
  @Test func lastWordsBeforeAnExitComeBeforeTheLeavingSequences() async throws {
    try await ProbeSession.run { probe in
      try await PseudoTerminal.run(probe.arguments()) { terminal in
        try await probe.isActive(visit: 1, on: terminal)
        terminal.send("X")
        #expect(try await terminal.child.ending() == .exited(5))
        try await terminal.outputHasEnded()
        let written = try #require(terminal.text.firstRange(of: "\u{1B}[?7777hlast words"))
        let left = try #require(terminal.text.firstRange(of: "\u{1B}[?1049l"))
        #expect(written.upperBound <= left.lowerBound)
      }
    }
  }

  /// An exit does not wait for a terminal that accepts no output.
  @Test func anExitDoesNotWaitForAFullTerminal() async throws {
    try await ProbeSession.run { probe in
      try await PseudoTerminal.run(probe.arguments()) { terminal in
        try await probe.isActive(visit: 1, on: terminal)
        try await terminal.pauseReading()
        try terminal.fill()
        terminal.send("X")
        #expect(try await terminal.child.ending() == .exited(5))
      }
    }
  }

  /// The sequences that leave are written in parts by a signal's handler and by the host, and no part of them twice.
  @Test func aFullTerminalGetsEachLeavingSequenceOnce() async throws {
    try await Shell.dash.runProbe { probe, terminal in
      // A job before this one, or an outer program, may have flags of its own on the main screen's stack.
      terminal.line("printf '\\033[>3u'")
      try await terminal.prompt()
      try await probe.launch("--modes --budget 60000", on: terminal)
      try await terminal.waitForScreen("all modes", where: isOn)
      try await probe.endUnread(on: terminal)
      let screen = terminal.screen
      #expect(screen.mainKeyFlags == [3] && screen.alternateKeyFlags.isEmpty && !screen.showsAlternate, "\(screen)")
      #expect(terminal.text.split(separator: "\u{1B}[?1049l", omittingEmptySubsequences: false).count == 2)
    }
  }
}
