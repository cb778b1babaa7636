import ExampleSupport
import PubSub
import TestTraits
import Testing

@testable import PregTracker

@Suite struct PregTrackerKeyTests {
  private func keys(_ pieces: String...) -> [Key] {
    var decoder = KeyDecoder()
    return pieces.flatMap { decoder.decode(Array($0.utf8)) }
  }

  @Test func `Bytes become keys`() {
    #expect(
      keys("qé\r\n\u{7F}\u{8}\u{15}\u{0C}") == [
        .character("q"), .character("é"), .enter, .enter, .backspace, .backspace, .control("u"), .control("l"),
      ])
    #expect(keys("\u{1B}") == [.escape])
    #expect(keys("\u{1B}", "q") == [.escape, .character("q")])
  }

  @Test func `The letters of a function key are no keys`() {
    #expect(keys("\u{1B}[A\u{1B}[1;5D\u{1B}OPx") == [.character("x")])
    #expect(keys("\u{1B}[1;", "5Dx") == [.character("x")])
    #expect(keys("\u{1B}qx") == [.character("x")])
  }

  @Test func `A character may come in pieces, and broken ones stop nothing`() {
    var decoder = KeyDecoder()
    let bytes = Array("👶".utf8)
    #expect(decoder.decode(Array(bytes[..<2])) == [])
    #expect(decoder.decode(Array(bytes[2...])) == [.character("👶")])
    #expect(decoder.decode([0xFF, 0x80, 0x80, 0x80, 0x71]).last == .character("q"))
  }

  @Test func `Bytes that are no UTF-8 hold back no key that follows`() {
    var decoder = KeyDecoder()
    #expect(decoder.decode([0xE4, 0x71]) == [.character("q")])  // ä in Latin-1
    #expect(decoder.decode([0xFF, 0x71]) == [.character("q")])
    #expect(decoder.decode([0xF0, 0x9F]) == [])
    #expect(decoder.decode([0x71]) == [.character("q")])
    #expect(decoder.decode([0xC0, 0x80, 0x71]) == [.character("q")])
  }

  @Test func `Alt and a bracket hold back no key that follows`() {
    #expect(keys("\u{1B}[", "q") == [.character("q")])
    #expect(keys("\u{1B}O", "q") == [.character("q")])
  }

  @Test(.longRunning) func `Of an immense pasted text only the beginning is kept`() {
    var decoder = KeyDecoder()
    #expect(decoder.decode(Array("\u{1B}[200~".utf8)) == [])
    let piece = [UInt8](repeating: UInt8(ascii: "x"), count: 4096)
    for _ in 1...2000 { #expect(decoder.decode(piece) == []) }
    #expect(
      decoder.decode(Array("\u{1B}[201~q".utf8))
        == [.paste(String(repeating: "x", count: 1000)), .character("q")])
  }

  @Test func `Whatever bytes come, the pieces they come in change nothing`() {
    let seed = UInt64.random(in: .min ... .max)
    var random = SplitMix64(seed: seed)
    for _ in 1...2000 {
      // Without the escape, which means something else when nothing follows it.
      let bytes = (0..<Int.random(in: 0...12, using: &random)).map { _ in UInt8.random(in: 0x1C...0xFF, using: &random)
      }
      var (whole, pieces) = (KeyDecoder(), KeyDecoder())
      let end = Array("qqqq".utf8)
      #expect(whole.decode(bytes + end) == (bytes + end).flatMap { pieces.decode([$0]) }, "seed \(seed)")
    }
  }

  @Test func `A pasted text is one thing, whatever it holds`() {
    #expect(keys("\u{1B}[200~q\r\u{1B}[Aq\u{1B}[201~x") == [.paste("q\r\u{1B}[Aq"), .character("x")])
    #expect(keys("\u{1B}[20", "0~2026-", "06-25\u{1B}[2", "01~") == [.paste("2026-06-25")])
  }

  @Test func `A pasted text presses no keys`() {
    var interaction = Interaction()
    #expect(interaction.press(.paste("q")) == nil)
    #expect(interaction.mode == .browsing)
  }

  @Test func `Keys quit, ask for a tip and redraw`() {
    var interaction = Interaction()
    #expect(interaction.press(.character("q")) == .quit)
    #expect(interaction.press(.character("t")) == .nextTip)
    #expect(interaction.press(.control("l")) == .redraw)
    #expect(interaction.press(.character("x")) == nil)
    #expect(interaction.press(.character("h")) == nil)
    #expect(interaction.mode == .help)
    #expect(interaction.press(.character("q")) == nil)
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
    _ = interaction.press(.character("d"))
    _ = interaction.press(.paste("2026-06-25\r\n"))
    #expect(interaction.mode == .editing(.init(text: "2026-06-25")))
    _ = interaction.press(.paste(String(repeating: "x", count: 1000)))
    _ = interaction.press(.character("y"))
    guard case .editing(let editor) = interaction.mode else { return #expect(Bool(false), "the editor is closed") }
    #expect(editor.text.count == 40)
  }
}
