import Glibc
import Scheduling
import Testing

@testable import UnixHost

@Suite struct TerminalInputParserTests {
  private typealias Element = TerminalInputParser.Element

  private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }
  private func plain(_ text: String) -> Element { .bytes(bytes(text)) }

  private func parse(_ text: String) -> [Element] {
    var parser = TerminalInputParser()
    return parser.feed(bytes(text)) + parser.flush()
  }

  /// Neighbouring bytes joined: what is left of the elements when it does not matter how the input was cut up.
  private func joined(_ elements: [Element]) -> [Element] {
    elements.reduce(into: []) { result, element in
      if case .bytes(let more) = element, case .bytes(let before)? = result.last {
        result[result.count - 1] = .bytes(before + more)
      } else {
        result.append(element)
      }
    }
  }

  @Test func focusReportsAreFoundAndTakenOut() {
    #expect(parse("\u{1B}[I") == [.focus(true)])
    #expect(parse("\u{1B}[O") == [.focus(false)])
    #expect(parse("a\u{1B}[Ob\u{1B}[Ic") == [plain("a"), .focus(false), plain("b"), .focus(true), plain("c")])
  }

  @Test(arguments: [
    "q", "Ω", "\u{1B}[A", "\u{1B}[1;5I", "\u{1B}[5~", "\u{1B}[?1;2c", "\u{1B}[<0;73;79M", "\u{1B}[1$O", "\u{1B}x",
    "\u{1B}OI", "\u{1B}OO", "\u{1B}O5P", "\u{1B}[M OI", "\u{1B}[M[[I", "\u{1B}[[A", "\u{1B}]11;rgb:0/0/0\u{7}",
    "\u{1B}\r",
    "\u{1B}\u{1B}[A",
  ])
  func nothingElseIsAReport(_ text: String) {
    #expect(joined(parse(text)) == [plain(text)])
    #expect(joined(parse(text + "\u{1B}[I")) == [plain(text), .focus(true)])
  }

  @Test func insideAPasteNothingIsAReport() {
    let paste = "\u{1B}[200~one \u{1B}[I two \u{1B}[O \u{1B} three\u{1B}[201~"
    #expect(joined(parse(paste)) == [plain(paste)])
    #expect(joined(parse(paste + "\u{1B}[O")) == [plain(paste), .focus(false)])
  }

  @Test func aPasteEndsOnlyWithItsOwnBracket() {
    let paste = "\u{1B}[200~\u{1B}[20\u{1B}[200~\u{1B}[201\u{1B}\u{1B}[I\u{1B}[201~"
    #expect(joined(parse(paste + "\u{1B}[I")) == [plain(paste), .focus(true)])
  }

  @Test func pastedTextIsNeverHeldBack() {
    var parser = TerminalInputParser()
    #expect(parser.feed(bytes("\u{1B}[200~a\u{1B}[20")) == [plain("\u{1B}[200~a\u{1B}[20")])
    #expect(!parser.isUndecided)
    // However late the rest of the bracket comes, it ends the paste.
    #expect(joined(parser.feed(bytes("1~\u{1B}[I"))) == [plain("1~"), .focus(true)])
  }

  @Test func aLoneEscapeIsHeldUntilFlushed() {
    var parser = TerminalInputParser()
    #expect(parser.feed([0x1B]).isEmpty)
    #expect(parser.isUndecided)
    #expect(parser.flush() == [.bytes([0x1B])])
    #expect(!parser.isUndecided)
    #expect(parser.flush().isEmpty)
    #expect(parser.feed(bytes("[I")) == [plain("[I")])
  }

  @Test func anIntroducerIsHeldUntilFlushed() {
    var parser = TerminalInputParser()
    #expect(parser.feed(bytes("\u{1B}[")).isEmpty)
    #expect(parser.flush() == [plain("\u{1B}[")])
    #expect(parser.feed(bytes("O")) == [plain("O")])
  }

  @Test func aSequenceThatPausesStaysWhole() {
    var parser = TerminalInputParser()
    #expect(parser.feed(bytes("\u{1B}[1;")).isEmpty)
    #expect(!parser.isUndecided && parser.isUnfinished && parser.flush().isEmpty)
    #expect(parser.feed(bytes("5I\u{1B}[I")) == [plain("\u{1B}[1;5I"), .focus(true)])
    #expect(!parser.isUnfinished)
  }

  /// As the decoder does: after a parameter neither `ESC O` nor an intermediate `$` can be a key.
  @Test(arguments: [("\u{1B}O5", "P"), ("\u{1B}[4;1$", "y")])
  func aSequenceWithAParameterIsDecided(beginning: String, end: String) {
    var parser = TerminalInputParser()
    #expect(parser.feed(bytes(beginning)).isEmpty)
    #expect(!parser.isUndecided && parser.flush().isEmpty)
    #expect(parser.feed(bytes(end)) == [plain(beginning + end)])
  }

  @Test func aKeyOfRxvtIsPassedOnAtOnce() {
    var parser = TerminalInputParser()
    #expect(parser.feed(bytes("\u{1B}[7$")) == [plain("\u{1B}[7$")])
    #expect(!parser.isUnfinished)
  }

  @Test(arguments: ["\u{1B}", "\u{1B}[", "\u{1B}O", "\u{1B}[1;", "\u{1B}[M ", "\u{1B}[[", "\u{1B}[?"])
  func aSequenceWithoutItsRestIsPassedOn(text: String) {
    var parser = TerminalInputParser()
    #expect(parser.feed(bytes(text)).isEmpty)
    #expect(parser.breakOff() == [plain(text)])
    #expect(!parser.isUnfinished && parser.breakOff().isEmpty)
    #expect(parser.feed(bytes("q")) == [plain("q")])
  }

  @Test func anEscapeBreaksASequenceOff() {
    #expect(joined(parse("\u{1B}\u{1B}[I")) == [plain("\u{1B}"), .focus(true)])
    #expect(joined(parse("\u{1B}[1;\u{1B}[O")) == [plain("\u{1B}[1;"), .focus(false)])
    #expect(joined(parse("\u{1B}[M \u{1B}[O")) == [plain("\u{1B}[M "), .focus(false)])
    #expect(joined(parse("\u{1B}O\u{1B}[O")) == [plain("\u{1B}O"), .focus(false)])
  }

  /// The keys of a terminal in its usual modes, while the program has set its own.
  private var usualKeys: SignalKeys {
    get throws {
      let terminal = try #require(openTerminal())
      defer { close(terminal) }
      let found = try #require(TerminalModes(of: terminal))
      return SignalKeys(found: found, own: found.raw)
    }
  }

  private func openTerminal() -> Int32? {
    let terminal = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
    return terminal < 0 ? nil : terminal
  }

  @Test func theKeysThatMakeSignalsAreFoundOutsideAPaste() throws {
    var parser = TerminalInputParser()
    parser.signalKeys = try usualKeys
    #expect(
      parser.feed([0x61, 0x03, 0x62, 0x1C, 0x1A]) == [
        plain("a"), .signalKey(.interrupt), plain("b"), .signalKey(.quit), .signalKey(.stop),
      ])
    let paste = "\u{1B}[200~\u{03}\u{1A}\u{1C}\u{1B}[201~"
    #expect(joined(parser.feed(bytes(paste))) == [plain(paste)])
  }

  @Test func keysThatTheTerminalDoesNotHaveAreNotFound() throws {
    let terminal = try #require(openTerminal())
    defer { close(terminal) }
    var modes = termios()
    #expect(tcgetattr(terminal, &modes) == 0)
    withUnsafeMutableBytes(of: &modes.c_cc) {
      $0[Int(VSUSP)] = 0
      $0[Int(VINTR)] = UInt8(ascii: "i")
    }
    #expect(tcsetattr(terminal, TCSANOW, &modes) == 0)
    let found = try #require(TerminalModes(of: terminal))
    let keys = SignalKeys(found: found, own: found.raw)
    #expect(keys.key(0x1A) == nil && keys.key(0) == nil && keys.key(0x03) == nil)
    #expect(keys.key(UInt8(ascii: "i")) == .interrupt)
    // The kernel still makes them.
    #expect(SignalKeys(found: found, own: found) == SignalKeys())
  }

  @Test func whereTheKernelMadeNoSignalsOnlyTheSuspendKeyIsFound() throws {
    let terminal = try #require(openTerminal())
    defer { close(terminal) }
    let raw = try #require(TerminalModes(of: terminal)).raw
    let keys = SignalKeys(found: raw, own: raw)
    #expect(keys.key(0x1A) == .stop)
    #expect(keys.key(0x03) == nil)
  }

  @Test func theSuspendKeyIsFoundOnlyWhereItIsAskedForAndOutsideAPaste() throws {
    #expect(parse("a\u{1A}b") == [plain("a\u{1A}b")])
    var parser = TerminalInputParser()
    parser.signalKeys = try usualKeys
    #expect(parser.feed(bytes("a\u{1A}b")) == [plain("a"), .signalKey(.stop), plain("b")])
    #expect(joined(parser.feed(bytes("\u{1B}[200~\u{1A}\u{1B}[201~"))) == [plain("\u{1B}[200~\u{1A}\u{1B}[201~")])
    #expect(parser.feed([0x1A]) == [.signalKey(.stop)])
  }

  @Test func aKeyThatMakesASignalBreaksASequenceOff() throws {
    for beginning in ["\u{1B}", "\u{1B}[", "\u{1B}[1", "\u{1B}[M", "\u{1B}O"] {
      var parser = TerminalInputParser()
      parser.signalKeys = try usualKeys
      #expect(
        joined(parser.feed(bytes(beginning + "\u{03}x"))) == [plain(beginning), .signalKey(.interrupt), plain("x")])
    }
  }

  /// A connection that breaks in the middle of a paste never sends its end, and the keyboard must get the user out.
  @Test func insideAPasteAKeyThatBeginsAReadIsOneAfterASecond() throws {
    for (encoded, key) in [
      ("\u{03}", CaughtSignal.interrupt), ("\u{1A}", .stop), ("\u{1C}", .quit), ("\u{1B}[99;5u", .interrupt),
      ("\u{1B}[27;5;122~", .stop),
    ] {
      var parser = TerminalInputParser()
      parser.signalKeys = try usualKeys
      _ = parser.feed(bytes("\u{1B}[200~half"), at: .seconds(7))
      #expect(joined(parser.feed(bytes(encoded), at: .seconds(7.9))) == [plain(encoded)])
      // Among other text it belongs to the paste, however long the paste takes.
      #expect(joined(parser.feed(bytes("a\(encoded)b"), at: .seconds(9))) == [plain("a\(encoded)b")])
      #expect(
        joined(parser.feed(bytes("\(encoded)q"), at: .seconds(9))) == [
          plain("\u{1B}[201~"), .signalKey(key), plain("q"),
        ])
      #expect(!parser.isUnfinished)
    }
  }

  /// A person who presses Ctrl-C five times a second never pauses for a second.
  @Test(arguments: ["", "half", "half\u{1B}[20"]) func repeatedKeysEndAPaste(text: String) throws {
    var parser = TerminalInputParser()
    parser.signalKeys = try usualKeys
    _ = parser.feed(bytes("\u{1B}[200~" + text))
    let presses = (1...10).map { parser.feed([0x03], at: .milliseconds(200 * $0)) }
    #expect(presses.firstIndex { $0.contains(.signalKey(.interrupt)) } == 4)
    #expect(presses[5...] == Array(repeating: [.signalKey(.interrupt)], count: 5)[...])
  }

  @Test func aPasteWithoutItsEndIsBrokenOff() {
    var parser = TerminalInputParser()
    _ = parser.feed(bytes("\u{1B}[200~half\u{1B}[2"))
    #expect(parser.isUnfinished && parser.flush().isEmpty)
    #expect(parser.breakOff() == [plain("01~")])
    #expect(parser.feed(bytes("q\u{1B}[I")) == [plain("q"), .focus(true)])
  }

  /// kitty's form with all that it may add, and xterm's.
  @Test(arguments: [
    ("\u{1B}[99;5u", CaughtSignal.interrupt), ("\u{1B}[99;5:1u", .interrupt), ("\u{1B}[99;5:2u", .interrupt),
    ("\u{1B}[99:67;5u", .interrupt), ("\u{1B}[99:67:99;5:1u", .interrupt), ("\u{1B}[1089::99;5u", .interrupt),
    ("\u{1B}[99;69u", .interrupt), ("\u{1B}[99;133u", .interrupt), ("\u{1B}[99;197:1u", .interrupt),
    ("\u{1B}[122;5u", .stop), ("\u{1B}[92;5u", .quit), ("\u{1B}[27;5;99~", .interrupt),
    ("\u{1B}[27;5;67~", .interrupt), ("\u{1B}[27;5;122~", .stop), ("\u{1B}[27;5;92~", .quit),
  ])
  func aKeyThatMakesASignalIsFoundAsASequence(text: String, key: CaughtSignal) throws {
    let whole = bytes("a\(text)b")
    for cut in whole.indices {
      var parser = TerminalInputParser()
      parser.signalKeys = try usualKeys
      let elements = parser.feed(whole[..<cut]) + parser.feed(whole[cut...])
      #expect(joined(elements) == [plain("a"), .signalKey(key), plain("b")], "cut before \(cut)")
    }
    var parser = TerminalInputParser()
    #expect(joined(parser.feed(whole)) == [.bytes(whole)], "the program's modes make the signals")
  }

  @Test(arguments: [
    "\u{1B}[99u", "\u{1B}[99;5:3u", "\u{1B}[99;6u", "\u{1B}[99;7u", "\u{1B}[99;13u", "\u{1B}[100;5u",
    "\u{1B}[27;5;100~", "\u{1B}[27;6;67~", "\u{1B}[?99;5u", "\u{1B}[99;5$u", "\u{1B}[99;5:1:1u",
    "\u{1B}[99;99999999999999999999u", "\u{1B}[57442;5u",
  ])
  func noOtherSequenceMakesASignal(text: String) throws {
    var parser = TerminalInputParser()
    parser.signalKeys = try usualKeys
    #expect(joined(parser.feed(bytes(text))) == [plain(text)])
  }

  @Test func keysThatTheModesNameAreFoundAsSequences() throws {
    let terminal = try #require(openTerminal())
    defer { close(terminal) }
    var modes = termios()
    #expect(tcgetattr(terminal, &modes) == 0)
    withUnsafeMutableBytes(of: &modes.c_cc) {
      $0[Int(VINTR)] = 0x7F
      $0[Int(VSUSP)] = 0x19
      $0[Int(VQUIT)] = UInt8(ascii: "!")
    }
    #expect(tcsetattr(terminal, TCSANOW, &modes) == 0)
    let found = try #require(TerminalModes(of: terminal))
    var parser = TerminalInputParser()
    parser.signalKeys = SignalKeys(found: found, own: found.raw)
    #expect(
      joined(parser.feed(bytes("\u{1B}[127u\u{1B}[121;5u\u{1B}[33u\u{1B}[49:33;2u\u{1B}[99;5u"))) == [
        .signalKey(.interrupt), .signalKey(.stop), .signalKey(.quit), .signalKey(.quit), plain("\u{1B}[99;5u"),
      ])
  }

  /// Ctrl-Z among the pasted text stops the program and throws the rest away; a reader must not wait for it.
  @Test(arguments: ["half", "half\u{1B}", "half\u{1B}[20", "half\u{1B}[201"])
  func resettingEndsAPaste(text: String) {
    var parser = TerminalInputParser()
    let before = parser.feed(bytes("\u{1B}[200~" + text))
    let after = parser.reset()
    #expect(joined(before + after).last == plain("\u{1B}[200~half\u{1B}[201~"))
    #expect(parser.feed(bytes("\u{1B}[I")) == [.focus(true)])
    #expect(parser.reset() == [])
  }

  /// However the input is cut up, the elements are the same but for the cuts.
  @Test(arguments: 1...40 as ClosedRange<UInt64>)
  func cutsChangeNothing(seed: UInt64) {
    print("TerminalInputParserTests.cutsChangeNothing: seed \(seed)")
    var random = SplitMix64(seed: seed)
    let pieces = [
      "\u{1B}[I", "\u{1B}[O", "\u{1B}", "[", "I", "O", "M", "\u{1B}[200~", "\u{1B}[201~", "\u{1B}[1;5A", "\u{1B}[M abc",
      "x",
      "\u{1B}OP", "200~", "\u{1A}",
    ]
    let input = (0..<60).flatMap { _ in bytes(pieces.randomElement(using: &random)!) }
    var whole = TerminalInputParser()
    let expected = joined(whole.feed(input) + whole.flush())
    var cut = TerminalInputParser()
    var elements: [Element] = []
    var rest = input[...]
    while !rest.isEmpty {
      let length = Int.random(in: 1...5, using: &random)
      elements += cut.feed(rest.prefix(length))
      rest = rest.dropFirst(length)
    }
    #expect(joined(elements + cut.flush()) == expected)
  }

  /// Focus reports are all that is ever taken out, whatever comes, and whenever held bytes are flushed.
  @Test(arguments: 1...40 as ClosedRange<UInt64>)
  func noByteIsLostOrInvented(seed: UInt64) {
    print("TerminalInputParserTests.noByteIsLostOrInvented: seed \(seed)")
    var random = SplitMix64(seed: seed)
    let alphabet = bytes("\u{1B}\u{1B}[[IOM0;1~2x\u{1A}")
    var parser = TerminalInputParser()
    var input: [UInt8] = []
    var output: [UInt8] = []
    func take(_ elements: [Element]) {
      for element in elements {
        switch element {
        case .bytes(let bytes): output += bytes
        case .focus(let isFocused): output += bytes(isFocused ? "\u{1B}[I" : "\u{1B}[O")
        case .signalKey: Issue.record("no key was asked for")
        }
      }
    }
    for _ in 0..<500 {
      let piece = (0..<Int.random(in: 1...6, using: &random)).map { _ in alphabet.randomElement(using: &random)! }
      input += piece
      take(parser.feed(piece))
      if Bool.random(using: &random) { take(parser.flush()) }
    }
    take(parser.breakOff())
    // The missing bytes of a paste's end may have been added.
    #expect(
      output.starts(with: input) && bytes("\u{1B}[201~").reversed().starts(with: output[input.count...].reversed()))
  }
}
