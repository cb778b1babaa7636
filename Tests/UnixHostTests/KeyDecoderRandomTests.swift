import Scheduling
import Testing

@testable import UnixHost

/// Keys, encoded by a table of its own, cut at random: the same keys come out.
@Suite struct KeyDecoderRandomTests {
  private typealias Key = Terminal.Key

  /// What terminals send for a key, each way.
  private struct Encoder {
    /// The final letter, or the number before the tilde, of keys that xterm gives a number for their modifier keys.
    static let letters: [(Key, String)] = [
      (.up, "A"), (.down, "B"), (.right, "C"), (.left, "D"), (.home, "H"), (.end, "F"), (.function(1), "P"),
      (.function(2), "Q"), (.function(3), "R"), (.function(4), "S"),
    ]
    static let tildes: [(Key, Int)] = [
      (.home, 1), (.insert, 2), (.delete, 3), (.end, 4), (.pageUp, 5), (.pageDown, 6), (.function(1), 11),
      (.function(4), 14), (.function(5), 15), (.function(6), 17), (.function(10), 21), (.function(11), 23),
      (.function(12), 24), (.function(14), 26), (.function(15), 28), (.function(16), 29), (.function(17), 31),
      (.function(20), 34),
    ]
    static let texts = ["a", "z", "Q", "7", "~", "[", "O", " ", "é", "€", "👶", "\u{301}", "\u{FFFD}", "𐍈", "<"]

    var random: SplitMix64

    mutating func next() -> (keys: [Key], bytes: [UInt8], pauses: Bool) {
      switch Int.random(in: 0..<12, using: &random) {
      case 0...3:
        let text = Self.texts.randomElement(using: &random)!
        return ([.character(Character(text))], Array(text.utf8), false)
      case 4:
        // Those that begin no sequence.
        let text = ["a", "Q", "7", "é", "👶", "<"].randomElement(using: &random)!
        return ([.alt(.character(Character(text)))], [0x1B] + Array(text.utf8), false)
      case 5:
        // 8, 9, 10 and 13 have keys of their own.
        let letter = Array("abcdefgklnopqrstuvwxyz".utf8).randomElement(using: &random)!
        let key = Key.control(.character(Character(Unicode.Scalar(letter))))
        return ([key], [letter - 96], false)
      case 6:
        let (key, byte) = [(Key.enter, 13 as UInt8), (.tab, 9), (.backspace, 127)].randomElement(using: &random)!
        return Bool.random(using: &random) ? ([key], [byte], false) : ([.alt(key)], [0x1B, byte], false)
      case 7: return letter()
      case 8: return tilde()
      case 9: return ([.escape], [0x1B], true)
      case 10:
        let text = String(
          (0..<Int.random(in: 0..<40, using: &random)).map { _ in
            (["q", "é", "\r", "\u{1B}", "[", "2", "0", "1", "👶"] as [Character]).randomElement(using: &random)!
          })
        guard !text.contains("\u{1B}[201") else { return next() }
        return ([.paste(text)], Array("\u{1B}[200~\(text)\u{1B}[201~".utf8), false)
      default:
        // No key: an answer, a mouse, the focus.
        let text = ["\u{1B}[?62;4c", "\u{1B}[<35;10;20M", "\u{1B}[M q!", "\u{1B}]11;rgb:0/0/0\u{1B}\\", "\u{1B}[I"]
          .randomElement(using: &random)!
        return ([], Array(text.utf8), false)
      }
    }

    private mutating func modifiers() -> (Set<Key.Modifier>, Int) {
      let number = Int.random(in: 2...8, using: &random)
      let table: [Set<Key.Modifier>] = [
        [.shift], [.alt], [.shift, .alt], [.control], [.control, .shift], [.control, .alt], [.control, .alt, .shift],
      ]
      return (table[number - 2], number)
    }

    private mutating func letter() -> (keys: [Key], bytes: [UInt8], pauses: Bool) {
      let (key, final) = Self.letters.randomElement(using: &random)!
      let (held, number) = modifiers()
      switch Int.random(in: 0..<4, using: &random) {
      case 0: return ([key], Array("\u{1B}O\(final)".utf8), false)
      case 1: return ([key], Array("\u{1B}[\(final)".utf8), false)
      case 2: return ([.alt(key)], Array("\u{1B}\u{1B}[\(final)".utf8), false)
      default: return ([Key(key, modifiers: held)], Array("\u{1B}[1;\(number)\(final)".utf8), false)
      }
    }

    private mutating func tilde() -> (keys: [Key], bytes: [UInt8], pauses: Bool) {
      let (key, code) = Self.tildes.randomElement(using: &random)!
      let (held, number) = modifiers()
      switch Int.random(in: 0..<5, using: &random) {
      case 0: return ([key], Array("\u{1B}[\(code)~".utf8), false)
      case 1: return ([.shift(key)], Array("\u{1B}[\(code)$".utf8), false)
      case 2: return ([.control(key)], Array("\u{1B}[\(code)^".utf8), false)
      case 3: return ([.shift(.tab)], Array("\u{1B}[Z".utf8), false)
      default: return ([Key(key, modifiers: held)], Array("\u{1B}[\(code);\(number)~".utf8), false)
      }
    }
  }

  /// The host's way of input: parser, then decoder.
  private struct Host {
    var parser = TerminalInputParser()
    var decoder = Terminal.KeyDecoder()
    var keys: [Key] = []

    mutating func take(_ elements: [TerminalInputParser.Element]) {
      for element in elements {
        if case .bytes(let bytes) = element {
          keys += decoder.decode(bytes) + decoder.flush()
        } else {
          keys += decoder.breakOff()
        }
      }
    }
  }

  @Test(arguments: 0..<40) func `Keys, encoded and cut anywhere, are the same keys`(_: Int) {
    let seed = UInt64.random(in: .min ... .max)
    print("KeyDecoderRandomTests: seed \(seed)")
    var encoder = Encoder(random: SplitMix64(seed: seed))
    var cuts = SplitMix64(seed: seed &+ 1)
    var (host, alone, keys) = (Host(), Terminal.KeyDecoder(), [Key]())
    var aloneKeys: [Key] = []
    var pending: [UInt8] = []
    func send(all: Bool) {
      while all ? !pending.isEmpty : pending.count > 20 {
        let piece = Array(pending.prefix(Int.random(in: 1...12, using: &cuts)))
        pending.removeFirst(piece.count)
        host.take(host.parser.feed(piece))
        aloneKeys += alone.decode(piece)
      }
    }
    for _ in 0..<200 {
      let (more, bytes, pauses) = encoder.next()
      keys += more
      pending += bytes
      send(all: pauses)
      if pauses {
        host.take(host.parser.flush())
        aloneKeys += alone.flush()
      }
    }
    send(all: true)
    host.take(host.parser.flush())
    aloneKeys += alone.flush()
    #expect(host.keys == keys, "seed \(seed)")
    #expect(aloneKeys == keys, "seed \(seed)")
  }

  /// The parser takes reports of the focus out, and the decoder ignores them.
  @Test func `Whatever bytes come, parser and decoder give the keys of the decoder alone`() {
    let seed = UInt64.random(in: .min ... .max)
    print("KeyDecoderRandomTests: seed \(seed)")
    var random = SplitMix64(seed: seed)
    let telling = [
      "\u{1B}", "\u{1B}[I", "\u{1B}[1;", "\u{1B}O5", "\u{1B}[M", "\u{1B}]1", "\u{1B}[7$", "\u{1B}[[", "\u{1B}P", "[",
      "A", "q", "7", "$", "\\", "\u{7}", "\r", "é", "👶", "\u{1B}[200~", "\u{1B}[201~", "\u{1B}[20",
    ]
    for _ in 1...5000 {
      let bytes = (0..<Int.random(in: 1...8, using: &random)).flatMap { _ in
        Int.random(in: 0..<8, using: &random) == 0
          ? [UInt8.random(in: 0...0xFF, using: &random)] : Array(telling.randomElement(using: &random)!.utf8)
      }
      var (host, alone, keys) = (Host(), Terminal.KeyDecoder(), [Key]())
      var rest = bytes[...]
      while !rest.isEmpty {
        let piece = Array(rest.prefix(Int.random(in: 1...6, using: &random)))
        rest = rest.dropFirst(piece.count)
        host.take(host.parser.feed(piece))
        keys += alone.decode(piece)
        #expect(host.parser.isUndecided == alone.isUndecided, "seed \(seed): \(bytes)")
        if rest.isEmpty || Int.random(in: 0..<8, using: &random) == 0 {
          host.take(host.parser.breakOff())
          host.keys += host.decoder.breakOff()
          keys += alone.breakOff()
        } else if Bool.random(using: &random) {
          host.take(host.parser.flush())
          keys += alone.flush()
        }
      }
      #expect(host.keys == keys, "seed \(seed): \(bytes)")
      #expect(!host.parser.isUnfinished && host.decoder == alone, "seed \(seed): \(bytes)")
    }
  }

  @Test func `Whatever bytes come, and however they are cut, nothing stops the keys that follow`() {
    let seed = UInt64.random(in: .min ... .max)
    print("KeyDecoderRandomTests: seed \(seed)")
    var random = SplitMix64(seed: seed)
    let telling = Array("\u{1B}\u{1B}[[O]P_M0;12~$\u{7}\\".utf8)
    for _ in 1...5000 {
      let bytes = (0..<Int.random(in: 0...12, using: &random)).map { _ in
        Bool.random(using: &random)
          ? telling.randomElement(using: &random)! : UInt8.random(in: 0...0xFF, using: &random)
      }
      // Ends whatever has begun: letters a sequence, Enter an answer, the bracket a paste.
      let hasPaste = bytes.indices.contains { bytes[$0...].starts(with: "[200~".utf8) }
      let end = Array("qqq\(hasPaste ? "\u{1B}[201~" : "")\rx".utf8)
      var (whole, pieces) = (Terminal.KeyDecoder(), Terminal.KeyDecoder())
      let keys = whole.decode(bytes + end)
      #expect(keys.suffix(2) == [.enter, "x"], "seed \(seed): \(bytes)")
      #expect(keys == (bytes + end).flatMap { pieces.decode([$0]) }, "seed \(seed): \(bytes)")
      #expect(whole == Terminal.KeyDecoder(), "seed \(seed): \(bytes)")
    }
  }
}
