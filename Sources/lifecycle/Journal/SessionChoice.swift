import LifecycleJournal

/// One run of a journal, as a user names it.
enum SessionChoice: Equatable {
  case number(Int)
  /// Counted from the last, which is 1.
  case fromEnd(Int)
  case name(String)

  /// `3` is the third, `-1` or `last` the last; anything else is the run's name.
  init(_ text: String) {
    if text == "last" {
      self = .fromEnd(1)
    } else if let number = Int(text), number != 0 {
      self = number > 0 ? .number(number) : .fromEnd(number == .min ? .max : -number)
    } else {
      self = .name(text)
    }
  }

  /// The choice without a count from the end, for which the journal is read once.
  func resolved(in path: String) throws -> SessionChoice {
    guard case .fromEnd(let number) = self else { return self }
    let scan = JournalScan()
    try scan.read(path, progress: Progress()) { _ in }
    return .number(scan.session - number + 1)
  }

  func matches(_ item: JournalScan.Item) -> Bool {
    switch self {
    case .number(let number): item.session == number
    case .name(let name): item.run.header?.run == name
    case .fromEnd: false
    }
  }
}
