import JSONReading

/// What is in the file: the encoded values by name, in the order in which they first came.
struct SavedContents: Sendable {
  private(set) var names: [StateDocument.Name] = []
  /// The forms of each value: the program's own, older and newer ones, and those that could not be decoded.
  private(set) var entries: [StateDocument.Name: [StateDocument.Entry]] = [:]
  /// The windows that are open.
  var sessions: [String] = []

  init() {}

  init(_ document: StateDocument) {
    sessions = document.sessions
    for entry in document.entries { add(entry) }
  }

  private mutating func add(_ entry: StateDocument.Entry) {
    if entries[entry.name] == nil { names.append(entry.name) }
    entries[entry.name, default: []].append(entry)
  }

  /// Takes a newly encoded value.
  ///
  /// - Parameters:
  ///   - entry: the value in the program's own version.
  ///   - keepsPresent: whether the present one of this version could not be decoded, so that it is kept beside the new one.
  ///   - replaced: the JSON of the kept one that was decoded instead, and that the new one replaces; nil for none.
  /// - Returns: whether the value differs from the one before.
  mutating func update(_ entry: StateDocument.Entry, keepsPresent: Bool, replacing replaced: Data? = nil) -> Bool {
    guard let index = entries[entry.name]?.firstIndex(where: { $0.version == entry.version && !$0.isKept }) else {
      add(entry)
      return true
    }
    if keepsPresent {
      keepPresent(beside: entry, replacing: replaced)
      return true
    }
    guard entries[entry.name]![index].json != entry.json else { return false }
    entries[entry.name]![index].json = entry.json
    return true
  }

  /// Puts a new value before the present ones of its version, and keeps as many of these as the format allows.
  private mutating func keepPresent(beside entry: StateDocument.Entry, replacing replaced: Data?) {
    let present = entries[entry.name]!.filter { $0.version == entry.version }
    entries[entry.name]!.removeAll { $0.version == entry.version }
    var kept: [StateDocument.Entry] = []
    // The newest first; what the new value or a newer one says again is not kept twice.
    for var old in present
    where ![entry.json, replaced].contains(old.json) && !kept.contains(where: { $0.json == old.json }) {
      old.isKept = true
      kept.append(old)
    }
    entries[entry.name]! += [entry] + kept.prefix(Self.mostKept)
  }

  /// The number of values of one name and version that are kept because a program could not decode them.
  private static let mostKept = 4

  /// Removes the values of windows that were closed; returns whether there were any.
  mutating func keep(sessions: [String]) -> Bool {
    let isChanged = sessions != self.sessions
    self.sessions = sessions
    let open = Set(sessions)
    let closed = names.filter { name in name.session.map { !open.contains($0) } ?? false }
    guard !closed.isEmpty else { return isChanged }
    for name in closed { entries[name] = nil }
    names.removeAll { entries[$0] == nil }
    return true
  }

  /// Removes the values of a window that was closed, and the window; returns whether there was anything of it.
  @discardableResult mutating func drop(_ session: String) -> Bool {
    let hasSession = sessions.contains(session) || names.contains { $0.session == session }
    sessions.removeAll { $0 == session }
    for name in names where name.session == session { entries[name] = nil }
    names.removeAll { $0.session == session }
    return hasSession
  }

  func document(of program: String) -> StateDocument {
    StateDocument(program: program, sessions: sessions, entries: names.flatMap { entries[$0] ?? [] })
  }
}
