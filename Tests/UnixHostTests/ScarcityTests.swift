import Glibc
import PseudoTerminal
import TestTraits
import Testing

@testable import UnixHost

/// What there is too little or too much of: file descriptors, focus reports, sequences without an end, error messages.
@Suite(.serialized, .timeLimit(.hang)) struct ScarcityTests {
  private func limited(to limit: Int, _ arguments: [String]) -> [String] {
    ["bash", "-c", "ulimit -n \(limit) && exec \"$@\"", "-"] + arguments
  }

  /// However few descriptors there are, the program says why it does not run; it never traps.
  @Test(arguments: 5...14) func withTooFewDescriptorsItSaysWhyItDoesNotRun(limit: Int) async throws {
    try await ProbeSession.run("ServiceProbe") { probe in
      let finished = try await runProgram(limited(to: limit, probe.arguments()))
      #expect(finished.ending == .exited(71), "\(finished.errors)")
      #expect(finished.errors.hasPrefix("ServiceProbe: cannot start: "))
      #expect(finished.errors.hasSuffix(": Too many open files (the limit, `ulimit -n`, is \(limit))\n"))
    }
  }

  @Test func withFewDescriptorsItRuns() async throws {
    try await ProbeSession.run("ServiceProbe") { probe in
      async let finished = runProgram(limited(to: 32, probe.arguments()))
      try await probe.log.line(startingWith: "acquire end")
      try probe.signal(SIGTERM)
      #expect(try await finished.ending == .exited(0))
    }
  }

  @Test func onATerminalTooFewDescriptorsAreSaid() async throws {
    try await ProbeSession.run { probe in
      try await PseudoTerminal.run(limited(to: 8, probe.arguments())) { terminal in
        #expect(try await terminal.child.ending() == .exited(71))
        try await terminal.outputHasEnded()
        #expect(terminal.text.contains("TerminalProbe: cannot start: "))
        #expect(terminal.text.contains("`ulimit -n`, is 8)"))
      }
    }
  }

  /// Thousands of reports in a moment are as many changes as a reader could have seen.
  @Test func aFloodOfFocusReportsIsMerged() async throws {
    try await ProbeSession.run { probe in
      try await PseudoTerminal.run(probe.arguments()) { terminal in
        try await probe.isActive(visit: 1, on: terminal)
        terminal.send(String(repeating: "\u{1B}[O\u{1B}[I", count: 300) + "\u{1B}[O")
        try await probe.log.line(startingWith: "state inactive inactive focus")
        terminal.send("\u{1B}[Iq")
        #expect(try await terminal.child.ending() == .exited(0))
      }
      // A read takes 4096 bytes, and the kernel may cut what was sent into more pieces; not into hundreds.
      #expect(probe.records.count { $0 == "state inactive inactive focus" } < 100)
    }
  }

  @Test func ofManyReportsTheLastTwoThatDifferCount() {
    typealias Element = TerminalInputParser.Element
    let elements: [Element] = [
      .focus(false), .bytes([1]), .focus(true), .bytes([2]), .focus(false), .signalKey(.stop),
    ]
    #expect(elements.mergingFocus == [.bytes([1]), .focus(true), .bytes([2]), .focus(false), .signalKey(.stop)])
    #expect([Element.focus(true), .focus(true)].mergingFocus == [.focus(true)])
    #expect([Element]().mergingFocus.isEmpty)
    #expect([Element.bytes([1])].mergingFocus == [.bytes([1])])
  }

  /// The memory that keeps it obeys the limit, too, and stays as long as it was when its beginning is freed.
  @Test func `Under a limit for the size of files no text on standard error is lost`() async throws {
    try await ProbeSession.run { probe in
      let limited = ["bash", "-c", "ulimit -f 2048 && exec \"$@\"", "-"] + probe.arguments()
      try await PseudoTerminal.run(limited) { terminal in
        try await probe.isActive(visit: 1, on: terminal)
        for _ in 0..<3 {
          terminal.send("E")
          try await probe.log.line(startingWith: "wrote a megabyte")
        }
        terminal.send("eq")
        #expect(try await terminal.child.ending() == .exited(0))
        try await terminal.outputHasEnded()
        #expect(terminal.text.contains("a message on standard error"))
      }
    }
  }

  @Test(arguments: ["\u{1B}[", "\u{1B}O", "\u{1B}[<"]) func aSequenceWithoutAnEndIsNotHeldForEver(beginning: String) {
    var parser = TerminalInputParser()
    var handedOn: [UInt8] = []
    let bytes = Array(beginning.utf8) + [UInt8](repeating: UInt8(ascii: "1"), count: 100_000)
    for byte in bytes {
      for case .bytes(let piece) in parser.feed([byte]) { handedOn += piece }
    }
    #expect(bytes.count - handedOn.count < 256)
    #expect(bytes.starts(with: handedOn))
    // Its end still belongs to it.
    for case .bytes(let piece) in parser.feed(Array("A".utf8)) { handedOn += piece }
    #expect(handedOn == bytes + Array("A".utf8))
    #expect(parser.feed(Array("\u{1B}[I".utf8)) == [.focus(true)])
  }

  /// What is written to standard error while the screen stands is kept for later, but not without bound.
  ///
  /// A program shows it for a second at most; this one is patient, as the machine may read slowly.
  @Test func muchStandardErrorIsKeptInPart() async throws {
    try await ProbeSession.run { probe in
      try await PseudoTerminal.run(probe.arguments("--patient")) { terminal in
        try await probe.isActive(visit: 1, on: terminal)
        // 8 MB, in pieces between which the host's thread runs.
        for _ in 0..<8 {
          terminal.send("E")
          try await probe.log.line(startingWith: "wrote a megabyte")
        }
        terminal.send("e")
        try await probe.log.line(startingWith: "input 65")
        terminal.send("q")
        #expect(try await terminal.child.ending() == .exited(0))
        try await terminal.outputHasEnded()
        let text = terminal.text
        #expect(text.contains("[what came before this on standard error was too much to show]"))
        #expect(text.contains("a message on standard error"))
        #expect(text.utf8.count < 4 << 20)
      }
    }
  }
}
