/// Returns the due date that PregTracker has saved in a directory; nil if it has saved none, and the text of a file that it cannot have written.
///
/// The file has two lines before the values, and one for each value.
package func trackerDate(in directory: String) -> String? {
  let text = (try? readFile("\(directory)/saved-state")) ?? (try? readFile("\(directory)/saved-state.previous"))
  guard let text else { return nil }
  let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
  guard lines.count == 4, lines[0].hasPrefix("saved-state 1 "), lines[2].count == 12, lines[3] == "" else {
    return lines.count == 4 && lines[2] == "null" ? nil : "damaged: \(text.debugDescription)"
  }
  return String(lines[2].dropFirst().dropLast())
}
