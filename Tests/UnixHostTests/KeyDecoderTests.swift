import Testing
import UnixHost

/// What each sequence means, by the tables of the terminals that send them.
@Suite struct KeyDecoderTests {
  typealias Key = Terminal.Key

  /// The keys of pieces with a pause after each, as the host hands them over.
  private func keys(_ pieces: String...) -> [Key] {
    var decoder = Terminal.KeyDecoder()
    return pieces.flatMap { decoder.decode(Array($0.utf8)) + decoder.flush() }
  }

  @Test func `Bytes become keys`() {
    #expect(
      keys("qé\r\n\u{7F}\u{8}\t\u{15}\u{0C} \u{0}\u{1C}\u{1F}") == [
        "q", "é", .enter, .enter, .backspace, .backspace, .tab, .control("u"), .control("l"), " ", .control(" "),
        .control("\\"), .control("_"),
      ])
    #expect(keys("\u{1B}") == [.escape])
    #expect(keys("\u{1B}", "q") == [.escape, "q"])
    #expect(keys("\u{1B}\u{1B}", "q") == [.escape, .escape, "q"])
  }

  @Test(arguments: [
    ("\u{1B}[A", Key.up), ("\u{1B}[B", .down), ("\u{1B}[C", .right), ("\u{1B}[D", .left), ("\u{1B}[H", .home),
    ("\u{1B}[F", .end), ("\u{1B}OA", .up), ("\u{1B}OH", .home), ("\u{1B}OF", .end), ("\u{1B}[1~", .home),
    ("\u{1B}[2~", .insert), ("\u{1B}[3~", .delete), ("\u{1B}[4~", .end), ("\u{1B}[5~", .pageUp),
    ("\u{1B}[6~", .pageDown), ("\u{1B}[7~", .home), ("\u{1B}[8~", .end), ("\u{1B}OP", .function(1)),
    ("\u{1B}OS", .function(4)), ("\u{1B}[11~", .function(1)), ("\u{1B}[15~", .function(5)),
    ("\u{1B}[17~", .function(6)), ("\u{1B}[21~", .function(10)), ("\u{1B}[24~", .function(12)),
    ("\u{1B}[34~", .function(20)), ("\u{1B}[[A", .function(1)), ("\u{1B}[[E", .function(5)),
    ("\u{1B}[Z", .shift(.tab)), ("\u{1B}OM", .enter), ("\u{1B}Op", "0"), ("\u{1B}Oy", "9"), ("\u{1B}Ok", "+"),
  ])
  func `A key that enters nothing has a sequence`(sequence: String, key: Key) { #expect(keys(sequence) == [key]) }

  @Test(arguments: [
    ("\u{1B}[1;2A", Key.shift(.up)), ("\u{1B}[1;3A", .alt(.up)), ("\u{1B}[1;4A", .alt(.shift(.up))),
    ("\u{1B}[1;5A", .control(.up)), ("\u{1B}[1;6A", .control(.shift(.up))), ("\u{1B}[1;7A", .control(.alt(.up))),
    ("\u{1B}[1;8A", .control(.alt(.shift(.up)))), ("\u{1B}[1;9A", .alt(.up)), ("\u{1B}[;5A", .control(.up)),
    ("\u{1B}[5A", .control(.up)), ("\u{1B}O5A", .control(.up)), ("\u{1B}[1;2P", .shift(.function(1))),
    ("\u{1B}[3;5~", .control(.delete)), ("\u{1B}[15;3~", .alt(.function(5))), ("\u{1B}[a", .shift(.up)),
    ("\u{1B}Od", .control(.left)), ("\u{1B}[7$", .shift(.home)), ("\u{1B}[7^", .control(.home)),
    ("\u{1B}[7@", .control(.shift(.home))), ("\u{1B}q", .alt("q")), ("\u{1B}Q", .alt("Q")), ("\u{1B}é", .alt("é")),
    ("\u{1B}\r", .alt(.enter)), ("\u{1B}\u{7F}", .alt(.backspace)), ("\u{1B}\u{1}", .control(.alt("a"))),
    ("\u{1B}\u{1B}[A", .alt(.up)), ("\u{1B}\u{1B}OP", .alt(.function(1))), ("\u{1B}[", .alt("[")),
    ("\u{1B}O", .alt("O")), ("\u{1B}]", .alt("]")), ("\u{1B}P", .alt("P")), ("\u{1B}[27;5;9~", .control(.tab)),
    ("\u{1B}[27;2;65~", "A"), ("\u{1B}[27;5;46~", .control(".")), ("\u{1B}[13;5u", .control(.enter)),
  ])
  func `Modifier keys are numbers, or an ESC before the key`(sequence: String, key: Key) {
    #expect(keys(sequence) == [key])
  }

  /// “Comprehensive keyboard handling in terminals”, with each of its progressive enhancements.
  @Test(arguments: [
    ("\u{1B}[97u", Key.character("a")), ("\u{1B}[97;1:1u", "a"), ("\u{1B}[97;1:2u", "a"), ("\u{1B}[97;129u", "a"),
    ("\u{1B}[97;65u", "A"), ("\u{1B}[97;2u", "A"), ("\u{1B}[97;66u", "a"), ("\u{1B}[97:65;2u", "A"),
    ("\u{1B}[97:65:97;2:1u", "A"), ("\u{1B}[49:33;2u", "!"), ("\u{1B}[97;2;65u", "A"), ("\u{1B}[97;;97u", "a"),
    ("\u{1B}[55:47;2;47u", "/"), ("\u{1B}[97;3u", .alt("a")), ("\u{1B}[97:65;4u", .alt("A")),
    ("\u{1B}[97;9u", .alt("a")), ("\u{1B}[97;17u", .alt("a")), ("\u{1B}[97;33u", .alt("a")),
    ("\u{1B}[97:65;5u", .control("a")), ("\u{1B}[97;133:1u", .control("a")), ("\u{1B}[97;69u", .control("a")),
    ("\u{1B}[27;5;65~", .control("a")), ("\u{1B}[97:65;6u", .control(.shift("a"))),
    ("\u{1B}[27;6;65~", .control(.shift("a"))), ("\u{1B}[1092::97;5u", .control("a")),
    ("\u{1B}[1092::97u", "ф"), ("\u{1B}[1092:1060:97;2u", "Ф"), ("\u{1B}[223;2u", "ß"),
    ("\u{1B}[27u", .escape), ("\u{1B}[27;129u", .escape), ("\u{1B}[13;129u", .enter), ("\u{1B}[9;130u", .shift(.tab)),
    ("\u{1B}[127;133u", .control(.backspace)), ("\u{1B}[1;129A", .up), ("\u{1B}[1;1:2A", .up),
    ("\u{1B}[1;133:1A", .control(.up)), ("\u{1B}[1;99A", .alt(.up)), ("\u{1B}[3;129~", .delete),
    ("\u{1B}[3;5:1~", .control(.delete)), ("\u{1B}[1;130P", .shift(.function(1))), ("\u{1B}[13;129~", .function(3)),
    ("\u{1B}[1;2R", .shift(.function(3))), ("\u{1B}[1;129:1R", .function(3)),
    ("\u{1B}[57376u", .function(13)), ("\u{1B}[57398;5u", .control(.function(35))), ("\u{1B}[57399;129u", "0"),
    ("\u{1B}[57408u", "9"), ("\u{1B}[57409u", "."), ("\u{1B}[57413u", "+"), ("\u{1B}[57414u", .enter),
    ("\u{1B}[57417u", .left), ("\u{1B}[57424u", .end), ("\u{1B}[57426;5u", .control(.delete)),
  ])
  func `A key with what kitty adds to it is the same key`(sequence: String, key: Key) {
    #expect(keys(sequence) == [key])
    #expect(keys("\(sequence)x") == [key, "x"])
  }

  @Test(arguments: [
    "\u{1B}[97;1:3u", "\u{1B}[97;5:3u", "\u{1B}[1;1:3A", "\u{1B}[3;1:3~", "\u{1B}[97:65:97;2:3;65u", "\u{1B}[13;1:3u",
    "\u{1B}[57441;2u", "\u{1B}[57441;1:3u",
  ])
  func `The release of a key is no key, nor is a modifier key alone`(sequence: String) {
    #expect(keys("\(sequence)x") == ["x"])
  }

  @Test func `The text of an input method is a key for each scalar`() {
    #expect(keys("\u{1B}[0;;20320:22909u") == ["你", "好"])
    #expect(keys("\u{1B}[0;;7u\u{1B}[0;;1114112:55296ux") == ["x"])
    let long = Array(repeating: "12354", count: 600).joined(separator: ":")
    #expect(keys("\u{1B}[0;;\(long)ux") == Array(repeating: "あ", count: 600) + ["x"])
  }

  @Test(arguments: [
    "\u{1B}[I", "\u{1B}[O", "\u{1B}[?1;2c", "\u{1B}[24;80R", "\u{1B}[<0;73;79M", "\u{1B}[<0;73;79m", "\u{1B}[M qq",
    "\u{1B}[4;1$y", "\u{1B}[?2026;1$y", "\u{1B}]11;rgb:ffff/ffff/ffff\u{7}", "\u{1B}]11;rgb:ffff/ffff/ffff\u{1B}\\",
    "\u{1B}]lquit\u{1B}\\", "\u{1B}]Lq\u{7}", "\u{1B}P@kitty-cmd{}\u{1B}\\", "\u{1B}P1$r0m\u{1B}\\",
    "\u{1B}P>|XTerm(367)\u{1B}\\", "\u{1B}_Gi=1;OK\u{1B}\\", "\u{1B}[1;257A", "\u{1B}[99~",
    "\u{1B}[57358u", "\u{1B}[97;5:4u", "\u{1B}[1;99R", "\u{1B}[?1u", "\u{1B}Oz", "\u{1B}[201~", "\u{1B}[1;5",
    "\u{1B}[99999999999999999999999A",
  ])
  func `No letter of a sequence that is no key is one`(sequence: String) {
    // The unfinished ones are finished here.
    let end = sequence == "\u{1B}[1;5" ? "X" : ""
    #expect(keys(sequence + end + "x") == ["x"])
    let bytes = Array((sequence + end).utf8)
    for cut in 1..<bytes.count {
      var decoder = Terminal.KeyDecoder()
      #expect(decoder.decode(Array(bytes[..<cut])) == [])
      #expect(decoder.decode(Array(bytes[cut...]) + [0x78]) == ["x"], "cut after \(cut)")
    }
  }

  @Test func `What breaks a sequence off is a key`() {
    for (text, expected) in [
      ("\r", [Key.enter]), ("é", ["é"]), ("\u{1B}[Bq", [.down, "q"]), ("\u{1B}", [.escape]), ("\u{7F}", [.backspace]),
    ] {
      #expect(keys("\u{1B}[1;", text) == expected, "\(text.debugDescription)")
      #expect(keys("\u{1B}[1;\(text)") == expected, "\(text.debugDescription)")
    }
    #expect(keys("\u{1B}[\r") == [.alt("["), .enter])
    #expect(keys("\u{1B}O ") == [.alt("O"), " "])
    #expect(keys("\u{1B}]x") == [.alt("]"), "x"])
    #expect(keys("\u{1B}[[x") == [.alt("["), "[", "x"])
    #expect(keys("\u{1B}[", "q") == [.alt("["), "q"])
    #expect(keys("\u{1B}]1", "1\rq") == [.enter, "q"])
    #expect(keys("\u{1B}]1\u{1B}", "q") == [.escape, "q"])
    #expect(keys("\u{1B}]1\u{1B}[Aq") == [.up, "q"])
  }

  @Test func `An ESC before what is no key was the key`() {
    #expect(keys("\u{1B}\u{1B}[Iq") == [.escape, "q"])
    #expect(keys("\u{1B}\u{1B}q") == [.escape, .alt("q")])
    #expect(keys("\u{1B}\u{1B}\u{1B}[A") == [.escape, .alt(.up)])
    #expect(keys("\u{1B}\u{1B}[200~q\u{1B}[201~") == [.escape, .paste("q")])
    #expect(keys("\u{1B}\u{1B}]1x\u{7}q") == [.escape, "q"])
    // Nor is it Alt with a key that breaks an answer off.
    #expect(keys("\u{1B}\u{1B}]1x\u{1B}[A") == [.escape, .up])
  }

  @Test func `A character may come in pieces, and broken ones stop nothing`() {
    var decoder = Terminal.KeyDecoder()
    let bytes = Array("👶".utf8)
    #expect(decoder.decode(Array(bytes[..<2])) == [] && decoder.flush() == [])
    #expect(decoder.decode(Array(bytes[2...])) == ["👶"])
    for broken in [[0xE4], [0xFF], [0xF0, 0x9F], [0xC0, 0x80], [0x9B], [0xED, 0xA0, 0x80]] as [[UInt8]] {
      #expect(decoder.decode(broken + [0x71]) == ["q"], "\(broken)")
    }
  }

  @Test func `Waiting is over when nothing follows`() {
    for undecided in ["\u{1B}", "\u{1B}[", "\u{1B}O", "\u{1B}]", "\u{1B}[["] {
      var decoder = Terminal.KeyDecoder()
      #expect(decoder.decode(Array(undecided.utf8)) == [] && decoder.isUndecided)
      #expect(decoder.flush() != [] && !decoder.isUndecided && decoder == Terminal.KeyDecoder())
    }
    for continued in ["", "\u{1B}[1;", "\u{1B}[200~q", "\u{1B}O5", "\u{1B}]1", "\u{1B}[M "] {
      var decoder = Terminal.KeyDecoder()
      let before = decoder.decode(Array(continued.utf8))
      let state = decoder
      #expect(before == [] && !decoder.isUndecided && decoder.flush() == [] && decoder == state)
    }
  }

  @Test(
    arguments: [
      ("\u{1B}[1;", []), ("\u{1B}[M ", []), ("\u{1B}O5", []), ("\u{1B}]11;x", []), ("\u{C3}", []),
      ("\u{1B}", [.escape]),
      ("\u{1B}\u{1B}[1", [.escape]), ("\u{1B}[200~half\u{1B}[20", [.paste("half")]), ("", []),
    ] as [(String, [Key])])
  func `What has begun and does not go on is broken off`(text: String, expected: [Key]) {
    var decoder = Terminal.KeyDecoder()
    #expect(decoder.decode(text == "\u{C3}" ? [0xC3] : Array(text.utf8)) == [])
    #expect(decoder.isUnfinished == !text.isEmpty)
    #expect(decoder.breakOff() == expected && decoder == Terminal.KeyDecoder())
    #expect(decoder.decode([0x71]) == ["q"])
  }

  @Test func `A key says what it enters, and how it is called`() {
    #expect(Key.character("é").text == "é" && Key.shift("!").text == "!" && Key.paste("two words").text == "two words")
    for key in [.control("u"), .alt("x"), .enter, .tab, .escape, .up, .function(1)] as [Key] {
      #expect(key.text == nil, "\(key)")
    }
    let keys: [Key] = [
      "q", " ", .control("u"), .control(.alt(.shift(.left))), .function(12), .shift(.tab), .paste("é"), .pageUp,
    ]
    #expect(
      keys.map(\.description) == [
        "q", "Space", "Ctrl-U", "Ctrl-Alt-Shift-Left", "F12", "Shift-Tab", "Paste(2 bytes)", "PageUp",
      ])
  }
}
