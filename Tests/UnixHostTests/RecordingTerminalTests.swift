import AppLifecycle
import PubSub
import Testing
import UnixHost
import UnixHostTesting

/// The terminal for tests: what it posts, and what it records.
@MainActor @Suite struct RecordingTerminalTests {
  private final class NoDelegate: ApplicationDelegate {}

  /// Notes what a program is told.
  @MainActor private final class Program {
    let application = Application(delegate: NoDelegate())
    let terminal: RecordingTerminal
    var inputs: [Terminal.DidReceiveInput] = []
    var displays: [Terminal.NeedsDisplay] = []
    var keys: [Terminal.Key] { inputs.flatMap(\.keys) }

    init(rows: Int = 4, columns: Int = 10) {
      terminal = RecordingTerminal(application: application, size: Terminal.Size(rows: rows, columns: columns))
      application.bus.subscribe(to: Terminal.DidReceiveInput.self, for: self, from: terminal.terminal) {
        $0.inputs.append($1)
      }
      application.bus.subscribe(to: Terminal.NeedsDisplay.self, for: self, from: terminal.terminal) {
        $0.displays.append($1)
      }
    }
  }

  @Test func `What is sent is posted before the call returns, with application and terminal`() throws {
    let program = Program()
    program.terminal.type("né\n")
    let input = try #require(program.inputs.first)
    #expect(program.inputs.count == 1 && input.keys == ["n", "é", .enter] && input.bytes == Array("né\n".utf8))
    #expect(input.application === program.application && input.terminal === program.terminal.terminal)
  }

  /// The name that a key has, of several that may be pressed: Shift is part of a letter, and with Control it is small.
  private func canonical(_ key: Terminal.Key) -> Terminal.Key {
    guard case .modified(.character(let letter), let held) = key, letter.isLetter else { return key }
    if held.contains(.control) {
      return Terminal.Key(.character(Character(letter.lowercased())), modifiers: held)
    }
    guard held.contains(.shift) else { return key }
    return Terminal.Key(.character(Character(letter.uppercased())), modifiers: held.subtracting([.shift]))
  }

  @Test func `Every key that is pressed arrives as that key`() {
    let kinds: [Terminal.Key] =
      [
        "a", "Q", "[", "O", "P", " ", "é", "👶", ".", .enter, .tab, .escape, .backspace, .insert, .delete, .up, .down,
        .left, .right,
        .home, .end, .pageUp, .pageDown,
      ] + (1...35).map { .function($0) }
    let held: [Set<Terminal.Key.Modifier>] = [
      [], [.shift], [.alt], [.shift, .alt], [.control], [.control, .shift], [.control, .alt], [.control, .alt, .shift],
    ]
    for modifiers in held {
      for key in kinds {
        let key = Terminal.Key(key, modifiers: modifiers)
        let program = Program()
        program.terminal.press(key, "x")
        // Of Alt with Escape xterm sends two of it.
        let expected: [Terminal.Key] = key == .alt(.escape) ? [.escape, .escape, "x"] : [canonical(key), "x"]
        #expect(program.keys == expected)
      }
    }
    let program = Program()
    program.terminal.press(.escape)
    program.terminal.paste("q\u{1B}[A")
    program.terminal.press(.control("i"), .control("m"))
    #expect(program.keys == [.escape, .paste("q\u{1B}[A"), .tab, .enter])
  }

  @Test func `What a host keeps for itself is not posted`() {
    let program = Program()
    program.terminal.press("a", .control("c"), .control("z"), .control("\\"), "b")
    program.terminal.send(Array("\u{1B}[Ic\u{1B}[O".utf8))
    #expect(program.keys == ["a", "b", "c"])
    // What a report breaks off does not take the next key for its rest.
    program.terminal.send(Array("\u{1B}\u{1B}[1;\u{1B}[Iq".utf8))
    #expect(program.keys == ["a", "b", "c", .escape, "q"])
  }

  @Test func `What was begun ends when the terminal is taken away`() {
    let program = Program()
    program.terminal.send(Array("\u{1B}[200~abc".utf8))
    program.terminal.takeAway()
    program.terminal.requestDisplay()
    program.terminal.send(Array("q\u{1B}[1;".utf8))
    program.terminal.takeAway()
    program.terminal.requestDisplay()
    program.terminal.send(Array("A".utf8))
    #expect(program.keys == [.paste("abc"), "q", "A"])
  }

  @Test func `A character that is sent in two pieces is one key`() {
    let program = Program()
    let bytes = Array("é".utf8)
    program.terminal.send([bytes[0]])
    program.terminal.send([bytes[1]])
    #expect(program.inputs.map(\.keys) == [[], ["é"]])
  }

  @Test func `What is written is recorded as text and as a screen`() {
    let program = Program()
    let terminal = program.terminal
    terminal.terminal.write("\u{1B}[?25l\u{1B}[2J\u{1B}[2;3Hone\u{1B}[1mtwo\u{1B}[0m\r\nx")
    #expect(terminal.output == "\u{1B}[?25l\u{1B}[2J\u{1B}[2;3Hone\u{1B}[1mtwo\u{1B}[0m\r\nx")
    #expect(terminal.lines == ["", "  onetwo", "x"])
    #expect(terminal.cursor == (2, 1) && !terminal.showsCursor)
    terminal.clearOutput()
    terminal.terminal.write("\u{1B}[2;1H\u{1B}[K\u{1B}[99999999999999999999B\u{1B}[9223372036854775807C!")
    #expect(terminal.output.hasPrefix("\u{1B}[2;1H") && terminal.lines == ["", "", "x", "         !"])
  }

  /// No terminal shows half of a wide character: the other half becomes blank.
  @Test(
    arguments: [
      ("日本\r\u{1B}[P", " 本"), ("日本\u{1B}[2G\u{1B}[P", " 本"), ("日本語\u{1B}[2G\u{1B}[2P", "  語"),
      ("日\u{1B}[2G\u{1B}[K", ""), ("日本\r\u{1B}[1K", "  本"), ("日本\u{1B}[2G\u{1B}[2X", ""),
      ("日本\r\u{1B}[2X", "  本"), ("日本\u{1B}[2G\u{1B}[@x", " x 本"), ("ab日本語日\r\u{1B}[@", " ab日本語"),
      ("日本\u{1B}[2Gx", " x本"), ("日本\r\u{1B}[2Gxy", " xy"),
    ])
  func `Half of a wide character goes with the other half`(output: String, line: String) {
    let program = Program()
    program.terminal.terminal.write(output)
    #expect(program.terminal.lines == (line.isEmpty ? [] : [line]))
    program.terminal.terminal.write("\u{1B}[2J\u{1B}[Habcd日")
    program.terminal.resize(to: Terminal.Size(rows: 2, columns: 5))
    #expect(program.terminal.lines == ["abcd"])
  }

  /// The host leaves the terminal's driver its output modes.
  @Test func `A line feed begins a new line, as on a real terminal`() {
    let program = Program()
    program.terminal.terminal.write("ab\ncd\r\ne")
    #expect(program.terminal.lines == ["ab", "cd", "e"])
    #expect(program.terminal.output == "ab\ncd\r\ne")
  }

  @Test func `A megabyte more than a host keeps is recorded whole`() {
    let program = Program()
    for _ in 0..<3 { program.terminal.terminal.write(String(repeating: "x", count: 1 << 20)) }
    #expect(program.terminal.output.utf8.count == 3 << 20)
  }

  @Test func `Threads write at once, and nothing is lost`() async {
    let program = Program()
    let terminal = program.terminal.terminal
    await withTaskGroup { group in
      for number in 0..<8 {
        group.addTask { for count in 0..<500 { terminal.write("\(number):\(count)\n") } }
      }
    }
    let lines = program.terminal.output.split(separator: "\n")
    #expect(lines.count == 4000)
    for number in 0..<8 {
      // Of each thread in its order.
      #expect(lines.filter { $0.hasPrefix("\(number):") } == (0..<500).map { "\(number):\($0)" })
    }
  }

  @Test func `The program draws when it is asked to`() {
    let program = Program()
    let terminal = program.terminal
    #expect(program.displays.isEmpty)
    terminal.requestDisplay()
    terminal.terminal.write("shown")
    terminal.resize(to: Terminal.Size(rows: 2, columns: 3))
    #expect(program.displays.map(\.size) == [Terminal.Size(rows: 4, columns: 10), Terminal.Size(rows: 2, columns: 3)])
    #expect(program.displays.allSatisfy { $0.application === program.application && $0.terminal === terminal.terminal })
    #expect(terminal.lines == ["sho"] && terminal.terminal.size == Terminal.Size(rows: 2, columns: 3))
  }

  @Test func `Without the terminal nothing is shown, and nothing is posted`() {
    let program = Program()
    let terminal = program.terminal
    terminal.terminal.write("before")
    terminal.takeAway()
    terminal.terminal.write("meanwhile")
    terminal.type("q")
    terminal.resize(to: Terminal.Size(rows: 3, columns: 20))
    #expect(program.keys.isEmpty && program.displays.isEmpty && terminal.output == "before")
    terminal.requestDisplay()
    #expect(terminal.lines == [] && program.displays.map(\.size.columns) == [20])
    terminal.terminal.write("after")
    terminal.type("q")
    #expect(terminal.lines == ["after"] && program.keys == ["q"])
  }
}
