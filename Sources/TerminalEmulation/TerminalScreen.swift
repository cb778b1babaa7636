/// The screen of a terminal: a small emulator without side effects, which suffices to read the output of a full-screen
/// program.
///
/// It interprets cursor moves, erasing, insertion and deletion of lines and characters, scrolling regions, the
/// alternate screen, private modes, automatic wrap, wide characters, the window title and its stack, the cursor's shape,
/// kitty's stacks of keyboard flags and xterm's level of modified keys. Of colors it keeps only whether there are any. It
/// skips unknown sequences by the grammar of control sequences, so that no part of a sequence appears as text.
package struct TerminalScreen: Sendable, CustomStringConvertible {
  /// A character cell; nil is the right half of a wide character.
  typealias Cell = Character?

  struct Page: Sendable {
    var cells: [[Cell]]
    var row = 0
    var column = 0
    /// Whether the last column was written, so that the next character goes to the next line.
    var isWrapPending = false
    /// The first and last row that scroll.
    var region: ClosedRange<Int>

    init(rows: Int, columns: Int) {
      cells = Array(repeating: Array(repeating: " ", count: columns), count: rows)
      region = 0...(rows - 1)
    }
  }

  /// The height in lines.
  package private(set) var rows: Int
  /// The width in cells.
  package private(set) var columns: Int
  /// The private modes that are on, for example 25 cursor shown, 1004 focus reports, 1049 alternate screen, 2004
  /// bracketed paste.
  package internal(set) var modes: Set<Int> = [7, 25]
  /// The modes of ECMA-48 that are on, for example 4 insertion.
  package internal(set) var standardModes: Set<Int> = []
  /// Whether the keypad sends sequences of its own.
  package internal(set) var keypadSendsSequences = false
  /// The level of xterm's modifyOtherKeys; 0 for the legacy keys.
  package internal(set) var modifiedKeyLevel = 0
  /// The attributes of the text that is written next, as SGR numbers them; 30 and 40 stand for every color of text and
  /// background.
  package internal(set) var attributes: Set<Int> = []
  /// The latest window title, terminated by a bell or ST.
  package internal(set) var title = ""
  /// The titles that were pushed and not popped yet.
  package internal(set) var savedTitles: [String] = []
  /// The cursor's shape, as DECSCUSR numbers it; 0 is the terminal's own.
  package internal(set) var cursorShape = 0
  /// The flags of kitty's keyboard protocol that the main screen's stack has, oldest first; each screen has its own.
  package internal(set) var mainKeyFlags: [Int] = []
  /// The flags that the alternate screen's stack has, oldest first.
  package internal(set) var alternateKeyFlags: [Int] = []

  var page: Page
  /// The main page while the alternate page is shown; else nil.
  var mainPage: Page?
  var savedCursor = (row: 0, column: 0)
  var parser = Parser()

  /// Makes an empty screen with the cursor at the top left, of at least one row and one column.
  package init(rows: Int, columns: Int) {
    let (rows, columns) = (max(rows, 1), max(columns, 1))
    self.rows = rows
    self.columns = columns
    page = Page(rows: rows, columns: columns)
  }

  /// The lines from top to bottom, without trailing blanks.
  package var lines: [String] {
    page.cells.map { row in
      var text = String(row.compactMap { $0 })
      while text.last == " " { text.removeLast() }
      return text
    }
  }

  /// All lines as one text.
  package var text: String { lines.joined(separator: "\n") }

  /// Returns whether a line contains `text`.
  package func contains(_ text: String) -> Bool { lines.contains { $0.contains(text) } }

  /// The cursor's row and column, from 0.
  package var cursor: (row: Int, column: Int) { (page.row, page.column) }

  /// The first and last row that scroll, from 0.
  package var scrollingRegion: ClosedRange<Int> { page.region }

  /// Whether the alternate screen is shown.
  package var showsAlternate: Bool { mainPage != nil }

  /// Whether the cursor is shown.
  package var showsCursor: Bool { modes.contains(25) }

  /// The flags of kitty's keyboard protocol that are set on the screen that is shown; 0 for the legacy keys.
  package var keyFlags: Int { (showsAlternate ? alternateKeyFlags : mainKeyFlags).last ?? 0 }

  /// The lines in a frame, and the size, the cursor and the modes.
  package var description: String {
    let shown = lines.reversed().drop { $0.isEmpty }.reversed().map { "  |\($0)" }.joined(separator: "\n")
    let keys = "keys \(mainKeyFlags) and \(alternateKeyFlags)"
    return "\(shown)\n  (\(rows)×\(columns), cursor \(cursor), shape \(cursorShape), modes \(modes.sorted()), \(keys))"
  }

  /// Changes the size of the screen; text that no longer fits is cut off at the right and at the bottom.
  package mutating func resize(rows: Int, columns: Int) {
    let (rows, columns) = (max(rows, 1), max(columns, 1))
    self.rows = rows
    self.columns = columns
    func resized(_ old: Page) -> Page {
      var page = Page(rows: rows, columns: columns)
      for row in 0..<min(rows, old.cells.count) {
        let kept = old.cells[row].prefix(columns)
        page.cells[row].replaceSubrange(0..<kept.count, with: kept)
        // Half of a wide character has no room.
        if columns < old.cells[row].count, old.cells[row][columns] == nil { page.cells[row][columns - 1] = " " }
      }
      page.row = min(old.row, rows - 1)
      page.column = min(old.column, columns - 1)
      return page
    }
    page = resized(page)
    mainPage = mainPage.map(resized)
  }

  /// Draws the output of a program; sequences and characters may be split between calls at any byte.
  package mutating func feed(_ bytes: some Sequence<UInt8>) {
    for byte in bytes {
      if let action = parser.take(byte) { perform(action) }
    }
  }

  /// Draws text.
  package mutating func feed(_ text: String) { feed(text.utf8) }
}
