import PubSub
import Glibc
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
    #expect(!parser.holdsBytes)
    // However late the rest of the bracket comes, it ends the paste.
    #expect(joined(parser.feed(bytes("1~\u{1B}[I"))) == [plain("1~"), .focus(true)])
  }

  @Test func aLoneEscapeIsHeldUntilFlushed() {
    var parser = TerminalInputParser()
    #expect(parser.feed([0x1B]).isEmpty)
    #expect(parser.holdsBytes)
    #expect(parser.flush() == [.bytes([0x1B])])
    #expect(!parser.holdsBytes)
    #expect(parser.flush().isEmpty)
    #expect(parser.feed(bytes("[I")) == [plain("[I")])
  }

  @Test func anIntroducerIsHeldUntilFlushed() {
    var parser = TerminalInputParser()
    #expect(parser.feed(bytes("\u{1B}[")).isEmpty)
    #expect(parser.flush() == [plain("\u{1B}[")])
    #expect(parser.feed(bytes("O")) == [plain("O")])
  }

  @Test func aSequenceThatPausesGoesOn() {
    var parser = TerminalInputParser()
    #expect(parser.feed(bytes("\u{1B}[1;")).isEmpty)
    #expect(parser.flush() == [plain("\u{1B}[1;")])
    #expect(parser.feed(bytes("5I\u{1B}[I")) == [plain("5I"), .focus(true)])
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
        plain("a"), .signalKey(.interrupt), plain("b"), .signalKey(.quit), .signalKey(.suspend),
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
    #expect(keys.key(0x1A) == .suspend)
    #expect(keys.key(0x03) == nil)
  }

  @Test func theSuspendKeyIsFoundOnlyWhereItIsAskedForAndOutsideAPaste() throws {
    #expect(parse("a\u{1A}b") == [plain("a\u{1A}b")])
    var parser = TerminalInputParser()
    parser.signalKeys = try usualKeys
    #expect(parser.feed(bytes("a\u{1A}b")) == [plain("a"), .signalKey(.suspend), plain("b")])
    #expect(joined(parser.feed(bytes("\u{1B}[200~\u{1A}\u{1B}[201~"))) == [plain("\u{1B}[200~\u{1A}\u{1B}[201~")])
    #expect(parser.feed([0x1A]) == [.signalKey(.suspend)])
  }

  @Test func aKeyThatMakesASignalBreaksASequenceOff() throws {
    for beginning in ["\u{1B}", "\u{1B}[", "\u{1B}[1", "\u{1B}[M", "\u{1B}O"] {
      var parser = TerminalInputParser()
      parser.signalKeys = try usualKeys
      #expect(
        joined(parser.feed(bytes(beginning + "\u{03}x"))) == [plain(beginning), .signalKey(.interrupt), plain("x")])
    }
  }

  /// A connection that breaks in the middle of a paste never sends its end.
  @Test func aKeyAloneAfterAPauseIsAKeyAlsoInAPaste() throws {
    var parser = TerminalInputParser()
    parser.signalKeys = try usualKeys
    _ = parser.feed(bytes("\u{1B}[200~half"))
    // What comes without a pause, or with other text, belongs to the paste.
    #expect(parser.feed([0x03]) == [plain("\u{03}")])
    #expect(parser.feed([0x03, 0x61], afterPause: true) == [plain("\u{03}a")])
    #expect(parser.feed([0x03], afterPause: true) == [plain("\u{1B}[201~"), .signalKey(.interrupt)])
    #expect(parser.feed(bytes("q")) == [plain("q")])
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
    take(parser.flush())
    #expect(output == input)
  }
}
