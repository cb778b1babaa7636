import ExampleSupport
import Glibc
import PseudoTerminal
import TestTraits
import Testing

@testable import PregTracker

/// Texts without an end, or with characters without an end: they cost their length, and little of them is kept.
@Suite(.timeLimit(.hang)) struct PregTrackerPasteTests {
  /// By how much the time of a body grows when its input is eight times as long: 8 where it is linear, 64 where it is quadratic.
  ///
  /// Processor time of this thread: what else the machine does is none of it. The two lengths are measured in turns, and of each
  /// the best time counts.
  private func growth(of length: Int, _ body: (Int) -> Void) -> Double {
    func time(_ length: Int) -> Duration {
      func now() -> Duration {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
      }
      let began = now()
      body(length)
      return now() - began
    }
    let times = (0..<3).map { _ in (time(length), time(8 * length)) }
    return times.map(\.1).min()! / times.map(\.0).min()!
  }

  /// Between 8 and 64, with room for what a cache or an allocation adds.
  private let most = 18.0

  /// As a terminal's host hands them over.
  private func decode(_ bytes: [UInt8], pieces: Int, with decoder: inout KeyDecoder) -> [Key] {
    stride(from: 0, to: bytes.count, by: pieces).flatMap {
      decoder.decode(Array(bytes[$0..<min($0 + pieces, bytes.count)]))
    }
  }

  @Test(
    .longRunning,
    arguments: [
      ("\u{1B}[", "1;"), ("", "e\u{301}\u{302}"), ("\u{1B}[200~", "x"), ("\u{1B}[200~", "\u{1B}[201"),
      ("", "\u{1B}[200~x\u{1B}[201~"), ("", "\u{1B}[A"), ("", "\u{1B}"), ("", "\u{FFFD}"),
    ])
  func `Decoding costs as much as there are bytes`(beginning: String, repeated: String) {
    let unit = Array(repeated.utf8)
    func decode(_ length: Int, pieces: Int) {
      var decoder = KeyDecoder()
      let bytes = Array(beginning.utf8) + Array(repeating: unit, count: length / unit.count).flatMap { $0 }
      _ = self.decode(bytes, pieces: pieces, with: &decoder)
    }
    for (length, pieces) in [(20_000, 1000), (60_000, .max)] {
      let growth = growth(of: length) { decode($0, pieces: min(pieces, $0)) }
      print("PregTracker: decoding eight times as much of \(repeated.debugDescription) takes \(growth) times as long")
      #expect(growth < most)
    }
  }

  @Test func `A sequence without an end is swallowed, and the next key is not`() {
    var decoder = KeyDecoder()
    let parameters = Array("\u{1B}[".utf8) + [UInt8](repeating: UInt8(ascii: "1"), count: 1_000_000)
    #expect(decode(parameters, pieces: 4096, with: &decoder).isEmpty)
    // Nothing of it is kept.
    var short = KeyDecoder()
    _ = short.decode(Array("\u{1B}[11".utf8))
    #expect(decoder == short)
    #expect(decoder.decode(Array("mq".utf8)) == [.character("q")])
    // What no sequence contains ends it: Enter, a letter with an accent, another sequence.
    for (text, keys) in [
      ("\r", [Key.enter]), ("é", [.character("é")]), ("\u{1B}[Aq", [.character("q")]), ("\u{1B}", [.escape]),
    ] {
      _ = decoder.decode(Array("\u{1B}[1;".utf8))
      #expect(decoder.decode(Array(text.utf8)) == keys, "\(text.debugDescription)")
    }
  }

  @Test func `What looks like the end of a pasted text belongs to it`() {
    var decoder = KeyDecoder()
    let text = "\u{1B}\u{1B}[201\u{1B}[20\u{1B}[2011~"
    #expect(decoder.decode(Array("\u{1B}[200~\(text)\u{1B}[201~q".utf8)) == [.paste(text), .character("q")])
  }

  @Test(.longRunning) func `The line of a date is bounded in bytes, and costs the same for each mark`() throws {
    func type(_ count: Int) -> Interaction {
      var interaction = Interaction()
      _ = interaction.press(.character("d"))
      for _ in 0..<count { _ = interaction.press(.character("\u{301}")) }
      return interaction
    }
    guard case .editing(let editor) = type(20_000).mode else { return #expect(Bool(false), "the editor is closed") }
    #expect(editor.text.utf8.count <= 160 && editor.text.utf8.count > 100)
    let growth = growth(of: 1000) { _ = type($0) }
    print("PregTracker: typing eight times as many marks takes \(growth) times as long")
    #expect(growth < most)
    // Pasted, it is one character; a date still fits in after it.
    var interaction = Interaction()
    for key in [.character("d"), .paste("e" + String(repeating: "\u{301}", count: 400)), .paste("2026-06-25")] as [Key]
    {
      _ = interaction.press(key)
    }
    #expect(interaction.mode == .editing(.init(text: "2026-06-25")))
  }

  /// Each of the texts that come from outside alone, as together they would not fit on the screen.
  @Test(.longRunning, arguments: ["l\u{301}", "\u{301}", "👩‍👩‍👧‍👦", "/usr", "a b "])
  func `A screen is bounded in bytes, whatever it has to show`(repeated: String) {
    let fields: [(String, WritableKeyPath<ScreenContents, String>)] = [
      ("label", \.label), ("tip", \.tip), ("status", \.tipsStatus), ("state file", \.problem.orEmpty),
      ("previous run", \.previousRun.orEmpty), ("journal", \.journalProblem.orEmpty),
    ]
    for (name, field) in fields {
      func bytes(_ length: Int) -> Int {
        var contents = ScreenContents()
        contents[keyPath: field] = "e" + String(repeating: repeated, count: length)
        return ScreenLayout(columns: 80, rows: 24).lines(contents).reduce(0) { $0 + $1.rendered.utf8.count }
      }
      // As much as a screen of large emoji, which it has to be able to show.
      #expect(bytes(50_000) <= 24 * 40 * 30, "\(name)")
      let growth = growth(of: 5000) { _ = bytes($0) }
      #expect(growth < most, "\(name)")
    }
  }

  @Test func `What people and emoji need is shown whole`() {
    let text = "👩🏽‍❤️‍💋‍👨🏿 e\u{301}\u{302}"
    #expect(StyledLine(text).text == text)
  }

  /// The work is counted on the terminal: what is drawn for 20,000 marks is little.
  @Test func `Twenty thousand marks without a bracket are taken, and drawn a few times`() async throws {
    try await withTemporaryDirectory { directory in
      try await PseudoTerminal.run([
        builtProduct("PregTracker"), "--state", directory.file("due-date"), "--tips", "127.0.0.1:1",
      ]) { terminal in
        try await terminal.waitForScreen(containing: "didBecomeActive")
        terminal.send("d")
        try await terminal.waitForScreen(containing: "YYYY-MM-DD")
        let before = terminal.text.utf8.count
        terminal.send(String(repeating: "\u{301}", count: 20_000))
        terminal.send("\u{15}2026-06-25\r")
        try await terminal.waitForScreen(containing: "Due  2026-06-25")
        let drawn = terminal.text.utf8.count - before
        print("PregTracker: 20,000 marks were drawn with \(drawn) bytes")
        #expect(drawn < 200_000)
        terminal.send("q")
        #expect(try await terminal.child.nextEvent() == .exited(0))
      }
    }
  }

  /// Each key that draws the screen anew is obeyed once for all that come together.
  @Test func `A thousand redraws at once are few`() async throws {
    try await withTemporaryDirectory { directory in
      try await PseudoTerminal.run([
        builtProduct("PregTracker"), "--state", directory.file("due-date"), "--tips", "127.0.0.1:1",
      ]) { terminal in
        try await terminal.waitForScreen(containing: "didBecomeActive")
        let before = terminal.text.utf8.count
        terminal.send(String(repeating: "\u{0C}", count: 1000) + "h")
        try await terminal.waitForScreen(containing: "sets the due date")
        #expect(terminal.text.utf8.count - before < 100_000)
        terminal.send("qq")
        #expect(try await terminal.child.nextEvent() == .exited(0))
      }
    }
  }
}

extension String? {
  fileprivate var orEmpty: String {
    get { self ?? "" }
    set { self = newValue }
  }
}
