extension TerminalScreen {
  mutating func perform(_ action: Action) {
    switch action {
    case .print(let scalar): print(scalar)
    case .control(let byte): control(byte)
    case .escape(let intermediates, let final) where intermediates.isEmpty: escape(final)
    case .controlSequence(let marker, let parameters, let intermediates, let final) where intermediates.isEmpty:
      if marker == UInt8(ascii: "?") {
        setModes(parameters.compactMap { $0 }, final)
      } else if marker == nil {
        sequence(parameters, final)
      } else if let marker, final == UInt8(ascii: "u") {
        changeKeyFlags(marker, parameters)
      } else if marker == UInt8(ascii: ">"), final == UInt8(ascii: "m"), (parameters.first ?? 4) ?? 4 == 4 {
        modifiedKeyLevel = parameters.dropFirst().first.flatMap { $0 } ?? 0
      }
    case .controlSequence(nil, let parameters, [0x20], UInt8(ascii: "q")):
      cursorShape = parameters.first.flatMap { $0 } ?? 0
    case .operatingSystemCommand(let text):
      // 0 and 2 set the window's title.
      if text.hasPrefix("0;") || text.hasPrefix("2;") { title = String(text.dropFirst(2)) }
    default: break
    }
  }

  // MARK: Characters

  private mutating func print(_ scalar: Unicode.Scalar) {
    let width = scalar.terminalWidth
    if width == 0 { return combine(scalar) }
    // A screen of one column has no room for a wide character.
    guard width <= columns else { return }
    if modes.contains(7), page.isWrapPending || page.column + width > columns {
      page.column = 0
      lineFeed()
    }
    page.isWrapPending = false
    let column = min(page.column, columns - width)
    let after = column + width
    for edge in [column, after] { split(row: page.row, at: edge) }
    page.cells[page.row][column] = Character(scalar)
    if width == 2 { page.cells[page.row][column + 1] = Cell.none }
    page.column = min(after, columns - 1)
    page.isWrapPending = after >= columns
  }

  /// Blanks both halves of a wide character that has its right half in a column: neither is shown without the other.
  private mutating func split(row: Int, at column: Int) {
    guard (1..<columns).contains(column), page.cells[row][column] == nil else { return }
    page.cells[row].replaceSubrange((column - 1)...column, with: [" ", " "])
  }

  /// The number of scalars from which a character takes no more marks.
  private static let marksLimit = 16

  /// Adds a combining mark to the character before it.
  private mutating func combine(_ scalar: Unicode.Scalar) {
    var column = page.isWrapPending ? page.column : page.column - 1
    if column > 0, page.cells[page.row][column] == nil { column -= 1 }
    guard column >= 0, let base = page.cells[page.row][column] else { return }
    var text = String(base)
    guard text.unicodeScalars.count < Self.marksLimit else { return }
    text.unicodeScalars.append(scalar)
    // If the mark does not form one character with its base, the cell keeps the base: a terminal shows both in one
    // cell.
    page.cells[page.row][column] = text.count == 1 ? Character(text) : base
  }

  private mutating func control(_ byte: UInt8) {
    switch byte {
    case 0x08: moveCursor(row: page.row, column: page.column - 1)
    case 0x09: moveCursor(row: page.row, column: (page.column / 8 + 1) * 8)
    case 0x0A, 0x0B, 0x0C: lineFeed()
    case 0x0D: moveCursor(row: page.row, column: 0)
    default: break
    }
  }

  private mutating func lineFeed() {
    page.isWrapPending = false
    if page.row == page.region.upperBound {
      scroll(page.region, by: 1)
    } else if page.row < rows - 1 {
      page.row += 1
    }
  }

  private mutating func moveCursor(row: Int, column: Int) {
    page.row = min(max(row, 0), rows - 1)
    page.column = min(max(column, 0), columns - 1)
    page.isWrapPending = false
  }

  // MARK: Lines

  private var blankLine: [Cell] { Array(repeating: " ", count: columns) }

  /// Moves the lines of a region up, or down if the count is negative, and adds blank lines.
  private mutating func scroll(_ region: ClosedRange<Int>, by count: Int) {
    let distance = min(abs(count), region.count)
    let blanks = Array(repeating: blankLine, count: distance)
    if count > 0 {
      page.cells.replaceSubrange(region, with: page.cells[region].dropFirst(distance) + blanks)
    } else {
      page.cells.replaceSubrange(region, with: blanks + page.cells[region].dropLast(distance))
    }
  }

  private mutating func blank(row: Int, from first: Int, upTo end: Int) {
    for edge in [first, end] { split(row: row, at: edge) }
    for column in max(first, 0)..<max(min(end, columns), max(first, 0)) { page.cells[row][column] = " " }
  }

  private mutating func eraseInLine(_ extent: Int) {
    switch extent {
    case 0: blank(row: page.row, from: page.column, upTo: columns)
    case 1: blank(row: page.row, from: 0, upTo: page.column + 1)
    default: blank(row: page.row, from: 0, upTo: columns)
    }
  }

  private mutating func eraseInDisplay(_ extent: Int) {
    switch extent {
    case 0:
      eraseInLine(0)
      for row in (page.row + 1)..<max(rows, page.row + 1) { page.cells[row] = blankLine }
    case 1:
      for row in 0..<page.row { page.cells[row] = blankLine }
      eraseInLine(1)
    case 2: for row in 0..<rows { page.cells[row] = blankLine }
    default: break  // 3 erases lines that have scrolled off, which are not kept here
    }
  }

  // MARK: Sequences

  private mutating func escape(_ final: UInt8) {
    switch final {
    case UInt8(ascii: "7"): savedCursor = cursor
    case UInt8(ascii: "8"): moveCursor(row: savedCursor.row, column: savedCursor.column)
    case UInt8(ascii: "D"): lineFeed()
    case UInt8(ascii: "E"):
      page.column = 0
      lineFeed()
    case UInt8(ascii: "M"):
      if page.row == page.region.lowerBound {
        scroll(page.region, by: -1)
      } else {
        moveCursor(row: page.row - 1, column: page.column)
      }
    case UInt8(ascii: "="): keypadSendsSequences = true
    case UInt8(ascii: ">"): keypadSendsSequences = false
    case UInt8(ascii: "c"): self = TerminalScreen(rows: rows, columns: columns)
    default: break
    }
  }

  private mutating func sequence(_ parameters: [Int?], _ final: UInt8) {
    func number(_ index: Int, default standard: Int) -> Int {
      index < parameters.count ? parameters[index] ?? standard : standard
    }
    /// A count; an omitted count and 0 both mean 1.
    let count = max(number(0, default: 1), 1)
    switch final {
    case UInt8(ascii: "A"): moveCursor(row: page.row - count, column: page.column)
    case UInt8(ascii: "B"), UInt8(ascii: "e"): moveCursor(row: page.row + count, column: page.column)
    case UInt8(ascii: "C"), UInt8(ascii: "a"): moveCursor(row: page.row, column: page.column + count)
    case UInt8(ascii: "D"): moveCursor(row: page.row, column: page.column - count)
    case UInt8(ascii: "E"): moveCursor(row: page.row + count, column: 0)
    case UInt8(ascii: "F"): moveCursor(row: page.row - count, column: 0)
    case UInt8(ascii: "G"), UInt8(ascii: "`"): moveCursor(row: page.row, column: count - 1)
    case UInt8(ascii: "d"): moveCursor(row: count - 1, column: page.column)
    case UInt8(ascii: "H"), UInt8(ascii: "f"):
      moveCursor(row: number(0, default: 1) - 1, column: number(1, default: 1) - 1)
    case UInt8(ascii: "J"): eraseInDisplay(number(0, default: 0))
    case UInt8(ascii: "K"): eraseInLine(number(0, default: 0))
    case UInt8(ascii: "X"): blank(row: page.row, from: page.column, upTo: page.column + count)
    case UInt8(ascii: "L"): shiftLines(by: -count)
    case UInt8(ascii: "M"): shiftLines(by: count)
    case UInt8(ascii: "P"): deleteCharacters(count)
    case UInt8(ascii: "@"): insertBlanks(count)
    case UInt8(ascii: "S"): scroll(page.region, by: count)
    case UInt8(ascii: "T"): scroll(page.region, by: -count)
    case UInt8(ascii: "r"):
      let top = number(0, default: 1) - 1
      let bottom = min(number(1, default: rows), rows) - 1
      if top >= 0, top < bottom { page.region = top...bottom }
      moveCursor(row: 0, column: 0)
    case UInt8(ascii: "t"): changeTitleStack(number(0, default: 0))
    case UInt8(ascii: "h"): standardModes.formUnion(parameters.compactMap { $0 })
    case UInt8(ascii: "l"): standardModes.subtract(parameters.compactMap { $0 })
    case UInt8(ascii: "m"): changeAttributes(parameters.map { $0 ?? 0 })
    case UInt8(ascii: "s"): savedCursor = cursor
    case UInt8(ascii: "u"): moveCursor(row: savedCursor.row, column: savedCursor.column)
    default: break
    }
  }

  /// Changes the attributes of the text that follows.
  private mutating func changeAttributes(_ parameters: [Int]) {
    var rest = parameters[...]
    while let number = rest.popFirst() {
      switch number {
      case 0: attributes = []
      case 1...9: attributes.insert(number)
      case 22: attributes.subtract([1, 2])
      case 23...29: attributes.remove(number - 20)
      case 38, 48:
        attributes.insert(number - 8)
        // A color by its number, or by its three parts.
        rest = rest.dropFirst(rest.first == 5 ? 2 : rest.first == 2 ? 4 : 0)
      case 39, 49: attributes.remove(number - 9)
      case 30...37, 90...97: attributes.insert(30)
      case 40...47, 100...107: attributes.insert(40)
      default: break
      }
    }
  }

  /// Pushes the title (22) or pops it (23); the other window operations do nothing here.
  private mutating func changeTitleStack(_ operation: Int) {
    if operation == 22 { savedTitles.append(title) }
    if operation == 23, let saved = savedTitles.popLast() { title = saved }
  }

  /// Pushes (`>`), pops (`<`) or sets (`=`) flags of kitty's keyboard protocol.
  private mutating func changeKeyFlags(_ marker: UInt8, _ parameters: [Int?]) {
    var flags = showsAlternate ? alternateKeyFlags : mainKeyFlags
    let number = parameters.first.flatMap { $0 }
    switch marker {
    case UInt8(ascii: ">"): flags.append(number ?? 0)
    case UInt8(ascii: "<"): flags.removeLast(min(max(number ?? 1, 1), flags.count))
    default: flags = flags.dropLast() + [number ?? 0]
    }
    if showsAlternate { alternateKeyFlags = flags } else { mainKeyFlags = flags }
  }

  /// Deletes lines at the cursor, or inserts lines if the count is negative.
  private mutating func shiftLines(by count: Int) {
    guard page.region.contains(page.row) else { return }
    scroll(page.row...page.region.upperBound, by: count)
    moveCursor(row: page.row, column: 0)
  }

  private mutating func deleteCharacters(_ count: Int) {
    let distance = min(count, columns - page.column)
    for edge in [page.column, page.column + distance] { split(row: page.row, at: edge) }
    page.cells[page.row].removeSubrange(page.column..<(page.column + distance))
    page.cells[page.row] += Array(repeating: " ", count: distance)
  }

  private mutating func insertBlanks(_ count: Int) {
    let distance = min(count, columns - page.column)
    for edge in [page.column, columns - distance] { split(row: page.row, at: edge) }
    page.cells[page.row].insert(contentsOf: Array(repeating: " ", count: distance), at: page.column)
    page.cells[page.row].removeLast(distance)
  }

  private mutating func setModes(_ numbers: [Int], _ final: UInt8) {
    guard final == UInt8(ascii: "h") || final == UInt8(ascii: "l") else { return }
    let isOn = final == UInt8(ascii: "h")
    for number in numbers {
      if number == 1049 || number == 1047 || number == 47 { showAlternate(isOn) }
      if isOn { modes.insert(number) } else { modes.remove(number) }
    }
  }

  private mutating func showAlternate(_ isOn: Bool) {
    if isOn, mainPage == nil {
      mainPage = page
      page = Page(rows: rows, columns: columns)
      (page.row, page.column) = (mainPage!.row, mainPage!.column)
    } else if !isOn, let main = mainPage {
      page = main
      mainPage = nil
    }
  }
}

extension Unicode.Scalar {
  /// The number of cells that the character takes: 0 for combining marks, 2 for wide characters, else 1.
  fileprivate var terminalWidth: Int {
    switch value {
    case ..<0x0300: 1
    case 0x200B...0x200F, 0x2060, 0xFEFF: 0
    case _ where [.nonspacingMark, .enclosingMark].contains(properties.generalCategory): 0
    case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
      0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F680...0x1F6FF, 0x1F900...0x1F9FF, 0x20000...0x3FFFD:
      2
    // A flag is two of these letters.
    case 0x1F1E6...0x1F1FF: 1
    default: properties.isEmojiPresentation ? 2 : 1
    }
  }
}
