import Testing
import UnixHost

@testable import PregTracker

@Suite struct PregTrackerKeyTests {
  /// As the terminal sends them.
  private func keys(_ text: String) -> [Terminal.Key] {
    var decoder = Terminal.KeyDecoder()
    return decoder.decode(Array(text.utf8)) + decoder.flush()
  }

  @Test func `A pasted text presses no keys`() {
    var interaction = Interaction()
    #expect(interaction.press(.paste("q")) == nil)
    #expect(interaction.mode == .browsing)
  }

  @Test func `A letter with Alt is not the letter`() {
    var interaction = Interaction()
    for key in keys("\u{1B}q\u{1B}d\u{1B}[A") { #expect(interaction.press(key) == nil) }
    #expect(interaction.mode == .browsing)
  }

  @Test func `Keys quit, ask for a tip and redraw`() {
    var interaction = Interaction()
    #expect(interaction.press("q") == .quit)
    #expect(interaction.press("t") == .nextTip)
    #expect(interaction.press(.control("l")) == .redraw)
    #expect(interaction.press("x") == nil)
    #expect(interaction.press("h") == nil)
    #expect(interaction.mode == .help)
    #expect(interaction.press("q") == nil)
    #expect(interaction.mode == .browsing)
  }

  @Test func `A date is typed, corrected and set`() throws {
    var interaction = Interaction()
    var commands: [Interaction.Command?] = []
    for key in keys("d2026-02-30\r") { commands.append(interaction.press(key)) }
    #expect(commands.allSatisfy { $0 == nil })
    #expect(
      interaction.mode == .editing(.init(text: "2026-02-30", complaint: "“2026-02-30” is not a day of the calendar")))
    for key in keys("\u{7F}") { _ = interaction.press(key) }
    #expect(interaction.mode == .editing(.init(text: "2026-02-3")))
    for key in keys("\u{15}2026-06-25") { _ = interaction.press(key) }
    #expect(interaction.press(.enter) == .setDueDate(try CivilDate("2026-06-25")))
    #expect(interaction.mode == .browsing)
  }

  @Test func `The editor is left as it was entered, by Escape or by Enter on nothing`() {
    var interaction = Interaction()
    for key in keys("dq\u{1B}") { #expect(interaction.press(key) == nil) }
    #expect(interaction.mode == .browsing)
    for key in keys("d\r") { #expect(interaction.press(key) == nil) }
    #expect(interaction.mode == .browsing)
  }

  @Test func `A pasted date loses its line ends, and no text is longer than the line`() {
    var interaction = Interaction()
    _ = interaction.press("d")
    _ = interaction.press(.paste("2026-06-25\r\n"))
    #expect(interaction.mode == .editing(.init(text: "2026-06-25")))
    _ = interaction.press(.paste(String(repeating: "x", count: 1000)))
    _ = interaction.press("y")
    guard case .editing(let editor) = interaction.mode else { return #expect(Bool(false), "the editor is closed") }
    #expect(editor.text.count == 40)
  }
}
