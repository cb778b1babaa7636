import ExampleSupport
import TestTraits
import Testing
import UnixHost

@testable import PregTracker

@Suite struct PregTrackerScreenTests {
  private let label = "Day 142 of 280 · week 20+2 · second trimester · 138 days to go"

  private func contents() throws -> ScreenContents {
    ScreenContents(
      label: label, progress: 142.0 / 280, dueDate: try CivilDate("2026-06-25"), tip: "Drink water.",
      tipsStatus: "connected to 127.0.0.1:4040", activeTime: .seconds(125),
      events: [
        .init(name: "willResignActive", state: "active", time: "14:03:07"),
        .init(name: "didEnterBackground", state: "background", time: "14:03:07"),
      ])
  }

  private func text(_ contents: ScreenContents, _ columns: Int, _ rows: Int) -> [String] {
    ScreenLayout(columns: columns, rows: rows).lines(contents).map { $0.text.trimmingTrailingSpaces }
  }

  @Test func `A usual screen shows everything`() throws {
    #expect(
      text(try contents(), 80, 15) == [
        "PregTracker                                                          active 2:05",
        "",
        label,
        "━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━────────────────────────────────",
        "",
        "Due  2026-06-25",
        "Tip  Drink water.",
        "     connected to 127.0.0.1:4040",
        "",
        "Event               State       Time",
        "willResignActive    active      14:03:07",
        "didEnterBackground  background  14:03:07",
        "",
        "",
        "d due date  t next tip  h help  q quit",
      ])
  }

  @Test func `What the user should know stands below the tips, in full, before the table`() throws {
    var contents = try contents()
    contents.previousRun = "previous run: killed in the background (process 4711, last state background)"
    contents.journalProblem = "cannot lock runs.jsonl: process 4712 (PregTracker) writes it"
    contents.problem = "due-date: empty; kept as due-date.kept-1"
    #expect(
      text(contents, 60, 24)[8...14] == [
        "     connected to 127.0.0.1:4040",
        "previous run: killed in the background (process 4711, last",
        "state background)",
        "cannot lock runs.jsonl: process 4712 (PregTracker) writes it",
        "due-date: empty; kept as due-date.kept-1",
        "",
        "Event               State       Time",
      ])
    // Where there is little room, first goes how it was, then what cannot be recorded, then the date that may be lost.
    #expect(
      text(contents, 60, 6) == [
        "Day 142 of 280 · week 20+2 · second trimester", "138 days to go",
        "Due  2026-06-25",
        "cannot lock runs.jsonl: process 4712 (PregTracker) writes it",
        "due-date: empty; kept as due-date.kept-1",
        "d due date  t next tip  h help  q quit",
      ])
    #expect(text(contents, 60, 3).last == "due-date: empty; kept as due-date.kept-1")
  }

  @Test func `A notice is broken between words, and a word that is too long where the screen ends`() throws {
    func lines(_ notice: String, _ columns: Int) -> [String] {
      var contents = ScreenContents()
      contents.problem = notice
      let lines = ScreenLayout(columns: columns, rows: 24).lines(contents)
      return lines.filter { $0.spans.first?.style == .warning }.map { $0.text.trimmingTrailingSpaces }
    }
    #expect(lines("one two three", 13) == ["one two three"])
    #expect(lines("one two three", 12) == ["one two", "three"])
    #expect(lines("one two three", 7) == ["one two", "three"])
    #expect(lines("one two three", 6) == ["one", "two", "three"])
    #expect(lines("in /a/b/c/d/e", 6) == ["in", "/a/b/c", "/d/e"])
    #expect(lines("長い 長い", 5) == ["長い", "長い"])
  }

  @Test func `A small screen keeps what matters`() throws {
    #expect(
      text(try contents(), 40, 10) == [
        "PregTracker                  active 2:05",
        "Day 142 of 280 · week 20+2",
        "second trimester · 138 days to go",
        "Due  2026-06-25",
        "Tip  Drink water.",
        "     connected to 127.0.0.1:4040",
        "Event               State       Time",
        "willResignActive    active      14:03:07",
        "didEnterBackground  background  14:03:07",
        "d due date  t next tip  h help  q quit",
      ])
    #expect(text(try contents(), 20, 3) == ["Day 142 of 280", "week 20+2", "second trimester …"])
    #expect(text(try contents(), 80, 1) == [label])
  }

  @Test(.longRunning) func `The label is there at every size, and nothing is wider or longer than the screen`() throws {
    var contents = try contents()
    contents.tip = String(repeating: "長い tip 👶🏽 ", count: 30)
    contents.problem = String(repeating: "problem ", count: 30)
    contents.journalProblem = String(repeating: "journal ", count: 30)
    contents.previousRun = String(repeating: "run ", count: 30)
    contents.events += (0..<50).map { .init(name: "didBecomeActive", state: "active", time: "14:04:\($0 + 10)") }
    var editing = Interaction()
    _ = editing.press("d")
    var help = Interaction()
    _ = help.press("h")
    for mode in [Interaction.Mode.browsing, editing.mode, help.mode] {
      contents.mode = mode
      for columns in [0, 1, 2, 5, 14, 15, 16, 20, 40, 61, 62, 63, 80, 200] {
        for rows in 0...25 {
          let lines = ScreenLayout(columns: columns, rows: rows).lines(contents)
          #expect(lines.count == max(rows, 1))
          #expect(lines.allSatisfy { $0.width <= max(columns, 1) })
          if columns >= 14, mode != .help { #expect(lines.contains { $0.text.hasPrefix("Day 142 of 280") }) }
        }
      }
    }
  }

  @Test func `The table shows the newest events, oldest first`() throws {
    var contents = try contents()
    contents.events = (10..<60).map { .init(name: "event\($0)", state: "active", time: "14:04:\($0)") }
    let rows = text(contents, 80, 24).filter { $0.hasPrefix("event") }
    #expect(rows.first == "event47  active  14:04:47")
    #expect(rows.last == "event59  active  14:04:59")
  }

  @Test func `The editor is a line of the screen, and says what is wrong`() throws {
    var contents = try contents()
    var interaction = Interaction()
    for key in ["d", "x", .enter] as [Terminal.Key] { _ = interaction.press(key) }
    contents.mode = interaction.mode
    let lines = text(contents, 80, 24)
    #expect(lines.contains("Due  x"))
    #expect(lines.contains("“x” is not a date; write YYYY-MM-DD"))
    #expect(lines.last == "Enter set  Esc leave it as it is")
    #expect(text(contents, 80, 3).contains("Due  x"))
  }

  @Test func `A stranger's text cannot command the terminal`() throws {
    var contents = try contents()
    contents.tip = "\u{1B}[2Jgone\u{7}\u{9B}1m\u{202E}"
    let shown = ScreenLayout(columns: 80, rows: 24).lines(contents).map(\.text).joined()
    #expect(shown.contains("\\u{1B}[2Jgone\\u{07}"))
    #expect(!shown.unicodeScalars.contains { [0x1B, 0x07, 0x9B, 0x202E].contains($0.value) })
  }

  @Test func `Only lines that changed are written again`() {
    var update = ScreenUpdate()
    #expect(
      update.show(["one", "two"], columns: 5) == "\u{1B}[?25l\u{1B}[2J\u{1B}[1;1Hone\u{1B}[K\u{1B}[2;1Htwo\u{1B}[K")
    #expect(update.show(["one", "two"], columns: 5) == "")
    #expect(update.show(["one", "seven"], columns: 5) == "\u{1B}[2;1Hseven")
    #expect(update.show(["one", ""], columns: 5) == "\u{1B}[2;1H\u{1B}[K")
    update.invalidate()
    #expect(update.show(["one", ""], columns: 5) == "\u{1B}[?25l\u{1B}[2J\u{1B}[1;1Hone\u{1B}[K")
  }
}

extension String {
  fileprivate var trimmingTrailingSpaces: String {
    String(self[..<(lastIndex { $0 != " " }.map(index(after:)) ?? startIndex)])
  }
}
