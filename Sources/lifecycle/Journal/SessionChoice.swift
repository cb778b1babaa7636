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

  /// Throws an error if the journal that was read holds no such run.
  func check(in path: String, of scan: JournalScan) throws(Complaint) {
    let what: String
    switch self {
    case .number(let number):
      if number > 0, number <= scan.session { return }
      what = number > 0 ? "no run \(number)" : "no such run"
    case .name(let name):
      if scan.hasSought { return }
      what = "no run named '\(name.printable)'"
    case .fromEnd: return
    }
    let runs = scan.session == 1 ? "1 run" : "\(scan.session) runs"
    throw Complaint(
      "lifecycle: \(path.printable) holds \(what): it has \(runs); 'lifecycle sessions' lists them", .damaged)
  }

  func matches(_ item: JournalScan.Item) -> Bool {
    switch self {
    case .number(let number): item.session == number
    case .name(let name): item.run.header?.run == name
    case .fromEnd: false
    }
  }
}
