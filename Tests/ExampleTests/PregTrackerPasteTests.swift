import ExampleSupport
import PseudoTerminal
import TestTraits
import Testing
import UnixHost

@testable import PregTracker

/// Texts without an end, or with characters without an end: they cost their length, and little of them is kept.
@Suite(.timeLimit(.hang)) struct PregTrackerPasteTests {
  /// Between 8 and 64, with room for what a cache or an allocation adds.
  private let most = 18.0

  @Test(.longRunning) func `The line of a date is bounded in bytes, and costs the same for each mark`() throws {
    func type(_ count: Int) -> Interaction {
      var interaction = Interaction()
      _ = interaction.press("d")
      for _ in 0..<count { _ = interaction.press("\u{301}") }
      return interaction
    }
    guard case .editing(let editor) = type(20_000).mode else { return #expect(Bool(false), "the editor is closed") }
    #expect(editor.text.utf8.count <= 160 && editor.text.utf8.count > 100)
    let growth = growth(of: 1000) { _ = type($0) }
    print("PregTracker: typing eight times as many marks takes \(growth) times as long")
    #expect(growth < most)
    // Pasted, it is one character; a date still fits in after it.
    var interaction = Interaction()
    for key in ["d", .paste("e" + String(repeating: "\u{301}", count: 400)), .paste("2026-06-25")] as [Terminal.Key] {
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
        builtProduct("PregTracker"), "--state", directory.file("state"), "--tips", "127.0.0.1:1",
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
        builtProduct("PregTracker"), "--state", directory.file("state"), "--tips", "127.0.0.1:1",
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
