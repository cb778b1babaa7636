import UnixHost

/// A pure state machine that gives keys their meaning.
///
/// The user edits the due date in a line of the screen. The program never blocks for a key.
struct Interaction: Hashable, Sendable {
  enum Mode: Hashable, Sendable {
    case browsing, help
    case editing(Editor)
    /// The user wants to quit, and has typed a date that is not set.
    case quitting(Editor)

    /// The line in which a date is being typed.
    var editor: Editor? {
      switch self {
      case .editing(let editor), .quitting(let editor): editor
      case .browsing, .help: nil
      }
    }
  }

  /// The line in which a date is typed.
  struct Editor: Hashable, Sendable {
    var text = ""
    /// The reason for which the text is no date, as of the last Enter.
    var complaint: String?
  }

  /// What a key asks of the program.
  enum Command: Hashable, Sendable {
    case quit, nextTip, redraw
    case setDueDate(CivilDate)
    /// The answer whether to quit and lose the typed date.
    case answer(Bool)
  }

  private(set) var mode = Mode.browsing

  /// Asks whether to quit, if a typed date would be lost; returns false if none would.
  mutating func askToQuit() -> Bool {
    guard case .editing(let editor) = mode, !editor.text.isEmpty else { return false }
    mode = .quitting(editor)
    return true
  }

  mutating func press(_ key: Terminal.Key) -> Command? {
    if key == .control("l") { return .redraw }
    switch mode {
    case .browsing: return browse(key)
    case .help: mode = .browsing
    case .editing(let editor): return edit(editor, key)
    case .quitting(let editor): return quit(editor, key)
    }
    return nil
  }

  private mutating func quit(_ editor: Editor, _ key: Terminal.Key) -> Command? {
    switch key {
    case "y": return .answer(true)
    case "n", .escape:
      mode = .editing(editor)
      return .answer(false)
    default: return nil
    }
  }

  private mutating func browse(_ key: Terminal.Key) -> Command? {
    switch key {
    case "q": return .quit
    case "t": return .nextTip
    case "d": mode = .editing(Editor())
    case "h", "?": mode = .help
    default: break  // a pasted text above all: it must not press keys
    }
    return nil
  }

  private mutating func edit(_ editor: Editor, _ key: Terminal.Key) -> Command? {
    var editor = editor
    switch key {
    case .enter where editor.text.isEmpty, .escape:
      mode = .browsing
      return nil
    case .enter:
      do throws(CivilDateError) {
        let date = try CivilDate(editor.text)
        mode = .browsing
        return .setDueDate(date)
      } catch {
        editor.complaint = "\(error)"
      }
    case .backspace: _ = editor.text.popLast()
    case .control("u"): editor.text = ""
    default: if let text = key.text { editor.insert(text) }
    }
    if key != .enter { editor.complaint = nil }
    mode = .editing(editor)
    return nil
  }
}

extension Interaction.Editor {
  /// Longer than any date, so that a wrong one can be typed and named.
  private static let limit = 40
  /// The longest text, in bytes: a single character may have any number of combining marks.
  private static let byteLimit = 4 * limit

  /// Adds as much of the text as fits into the line.
  fileprivate mutating func insert(_ text: String) {
    for character in text where !character.isNewline {
      let longer = self.text + String(character)
      guard longer.utf8.count <= Self.byteLimit, longer.count <= Self.limit else { return }
      self.text = longer
    }
  }
}
