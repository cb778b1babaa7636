import AppLifecycle
import LifecycleJournal

/// One run of a journal, as a user names it.
enum SessionChoice: Equatable {
  case number(Int)
  /// The number of the run, counted from the last, which is 1.
  case fromEnd(Int)
  case name(String)

  /// Reads a choice: `3` is the third run, `-1` or `last` the last; any other text is the run's name.
  init(_ text: String) {
    if text == "last" {
      self = .fromEnd(1)
    } else if let number = Int(text), number != 0 {
      self = number > 0 ? .number(number) : .fromEnd(number == .min ? .max : -number)
    } else {
      self = .name(text)
    }
  }

  /// The choice as a number from the beginning or a name; reads the journal once if it counts from the end.
  func resolved(in path: String) throws -> SessionChoice {
    guard case .fromEnd(let number) = self else { return self }
    let scan = JournalScan(progress: Progress())
    // The names of the latest runs, as many as are counted.
    var names: [String?] = []
    scan.didEndRun = { _, run, _ in
      names.append(run.header?.run)
      if names.count > number { names.removeFirst() }
    }
    try scan.read(path) { _ in }
    try scan.finish()
    // The number changes if a rotation drops an older run before the journal is read again.
    if names.count == number, let name = names[0] { return .name(name) }
    return .number(scan.session - number + 1)
  }

  /// An error: the journal does not hold the run.
  struct Missing: Error, CustomStringConvertible {
    let path: String
    let choice: SessionChoice
    let count: Int

    var description: String {
      let runs = count == 1 ? "1 run" : "\(count) runs"
      let what =
        switch choice {
        case .number(let number) where number > 0: "no run \(number)"
        case .number, .fromEnd: "no such run"
        case .name(let name): "no run named '\(name.printable)'"
        }
      return "\(path.printable) holds \(what): it has \(runs); 'lifecycle sessions' lists them"
    }
  }

  /// Throws an error if the journal that was read holds no such run.
  func check(in path: String, of scan: JournalScan) throws(Missing) {
    let isThere =
      switch self {
      case .number(let number): (1...max(scan.session, 1)).contains(number) && scan.session > 0
      case .name: scan.hasSought
      case .fromEnd: true
      }
    if !isThere { throw Missing(path: path, choice: self, count: scan.session) }
  }

  func matches(_ item: JournalScan.Item) -> Bool {
    switch self {
    case .number(let number): item.session == number
    case .name(let name): item.run.header?.run == name
    case .fromEnd: false
    }
  }
}
