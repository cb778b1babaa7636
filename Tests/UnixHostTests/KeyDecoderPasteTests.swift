import TestTraits
import Testing
import UnixHost

/// Pasted texts, and input without an end: they cost their length, and little of them is kept.
@Suite(.timeLimit(.hang)) struct KeyDecoderPasteTests {
  private typealias Key = Terminal.Key

  /// In pieces without a pause.
  private func decode(_ bytes: [UInt8], pieces: Int = 4096, with decoder: inout Terminal.KeyDecoder) -> [Key] {
    stride(from: 0, to: bytes.count, by: pieces).flatMap {
      decoder.decode(Array(bytes[$0..<min($0 + pieces, bytes.count)]))
    }
  }

  private func keys(_ text: String, pieces: Int = 4096) -> [Key] {
    var decoder = Terminal.KeyDecoder()
    return decode(Array(text.utf8), pieces: pieces, with: &decoder)
  }

  @Test func `A pasted text is one key, whatever it holds`() {
    let text = "q\r\u{1B}[Aq\u{3}é👶\u{1B}\u{1B}[201\u{1B}[20\u{1B}[2011~\u{1B}[200~"
    for pieces in [1, 3, 4096] {
      #expect(keys("a\u{1B}[200~\(text)\u{1B}[201~q", pieces: pieces).suffix(2) == [.paste(text), "q"])
    }
    #expect(keys("\u{1B}[200~\u{1B}[201~") == [.paste("")])
  }

  @Test func `Bytes in it that are no UTF-8 are replaced`() {
    var decoder = Terminal.KeyDecoder()
    let bytes = Array("\u{1B}[200~".utf8) + [0x61, 0xFF, 0x62] + Array("\u{1B}[201~".utf8)
    #expect(decoder.decode(bytes) == [.paste("a\u{FFFD}b")])
  }

  @Test(.longRunning) func `A megabyte is pasted whole; of more the beginning is kept, and the rest counted`() {
    let limit = Terminal.KeyDecoder.pasteLimit
    func paste(_ text: String) -> [Key] { keys("\u{1B}[200~\(text)\u{1B}[201~q") }
    let whole = String(repeating: "x", count: limit)
    #expect(paste(whole) == [.paste(whole), "q"])
    let most = String(repeating: "x", count: limit - 2)
    #expect(paste(most + "👶" + "yyy") == [.paste(most, omittedBytes: 7), "q"])
    #expect(paste(whole + whole + whole) == [.paste(whole, omittedBytes: 2 * limit), "q"])
    // What is too short to be cut after what was cut is cut, too.
    #expect(paste(most + "👶\u{1B}[20y") == [.paste(most, omittedBytes: 9), "q"])
  }

  @Test func `Of a sequence without an end little is kept, and the next key is not swallowed`() {
    var decoder = Terminal.KeyDecoder()
    #expect(decode(Array("\u{1B}[".utf8) + Array(repeating: 0x31, count: 1_000_000), with: &decoder) == [])
    var short = Terminal.KeyDecoder()
    _ = short.decode(Array("\u{1B}[".utf8) + Array(repeating: 0x31, count: 5000))
    #expect(decoder == short)
    #expect(decoder.decode(Array("mq".utf8)) == ["q"])
    #expect(decode(Array("\u{1B}O".utf8) + Array(repeating: 0x31, count: 1_000_000), with: &decoder) == [])
    #expect(decoder.decode(Array("Pq".utf8)) == ["q"])
    #expect(decode(Array("\u{1B}]1".utf8) + Array(repeating: 0x31, count: 1_000_000), with: &decoder) == [])
    #expect(decoder.decode(Array("\u{7}q".utf8)) == ["q"])
  }

  @Test(
    .longRunning,
    arguments: [
      ("\u{1B}[", "1;"), ("", "e\u{301}\u{302}"), ("\u{1B}[200~", "x"), ("\u{1B}[200~", "\u{1B}[201"),
      ("", "\u{1B}[200~x\u{1B}[201~"), ("", "\u{1B}[A"), ("", "\u{1B}"), ("", "\u{FFFD}"), ("\u{1B}]1", "x"),
    ])
  func `Decoding costs as much as there are bytes`(beginning: String, repeated: String) {
    let unit = Array(repeated.utf8)
    func decode(_ length: Int, pieces: Int) {
      var decoder = Terminal.KeyDecoder()
      let bytes = Array(beginning.utf8) + Array(repeating: unit, count: length / unit.count).flatMap { $0 }
      _ = self.decode(bytes, pieces: pieces, with: &decoder)
    }
    for (length, pieces) in [(20_000, 1000), (60_000, .max)] {
      let growth = growth(of: length) { decode($0, pieces: min(pieces, $0)) }
      print("UnixHost: decoding eight times as much of \(repeated.debugDescription) takes \(growth) times as long")
      // Between 8 and 64, with room for what a cache or an allocation adds.
      #expect(growth < 18)
    }
  }
}
