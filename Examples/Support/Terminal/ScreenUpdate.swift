/// Computes the text that makes a terminal show new lines in place of old ones: only lines that differ, so nothing flickers.
package struct ScreenUpdate {
  private var shown: [StyledLine]?

  package init() {}

  /// Forgets what the terminal shows: it was cleared, resized, or used by another program for a while.
  package mutating func invalidate() { shown = nil }

  /// The text that makes the terminal show `lines`; empty if it does already.
  package mutating func show(_ lines: [StyledLine], columns: Int) -> String {
    defer { shown = lines }
    // The cursor is hidden, as the editor draws its own. The host shows the terminal's cursor again when it leaves.
    var text = shown == nil ? "\u{1B}[?25l\u{1B}[2J" : ""
    for (row, line) in lines.enumerated() where shown.map({ $0[row] != line }) ?? (line.width > 0) {
      text += "\u{1B}[\(row + 1);1H\(line.rendered)"
      // After a line that fills the row, the cursor still stands on the last column and would erase it.
      if line.width < columns { text += "\u{1B}[K" }
    }
    return text
  }
}
