extension UsageError {
  /// An error: the command has no such option; the message names a similar one.
  init(unknownOption option: String, of command: Command) {
    let options = command.optionsAndHelp.map(\.name)
    self.init("there is no option '\(option)'" + Self.suggestion(for: option, among: options))
  }

  /// An error: there is no such command.
  init(unknownCommand command: String) {
    let suggestion = Self.suggestion(for: command, among: Command.all.map(\.name))
    self.init("there is no command '\(command)'" + (suggestion.isEmpty ? "; there is \(Command.list)" : suggestion))
  }

  /// The text `; did you mean 'log'?`, or an empty one if no word is similar.
  private static func suggestion(for word: String, among words: [String]) -> String {
    // The rest of a long word would cost time, and make every command similar.
    let word = String(word.prefix(64))
    let nearest = words.min { $0.distance(to: word) < $1.distance(to: word) }
    guard let nearest, nearest.distance(to: word) <= max(word.count / 3, 1) else { return "" }
    return "; did you mean '\(nearest)'?"
  }
}

extension String {
  /// The number of letters that have to be added, left out, replaced, or swapped with their neighbor.
  func distance(to other: String) -> Int {
    let (mine, theirs) = (Array(self), Array(other))
    var before: [Int] = []
    var row = Array(0...theirs.count)
    for (i, letter) in mine.enumerated() {
      var next = [i + 1]
      for (j, otherLetter) in theirs.enumerated() {
        var least = Swift.min(row[j + 1] + 1, next[j] + 1, row[j] + (letter == otherLetter ? 0 : 1))
        if i > 0, j > 0, letter == theirs[j - 1], mine[i - 1] == otherLetter {
          least = Swift.min(least, before[j - 1] + 1)
        }
        next.append(least)
      }
      (before, row) = (row, next)
    }
    return row[theirs.count]
  }
}
