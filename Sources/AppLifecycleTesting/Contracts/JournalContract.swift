public import AppLifecycle

/// The duties of a journal of life-cycle records, as scenarios that a test runs on a journal of your own.
///
///     #expect(try JournalContract.violations { try MyJournalSubject() }.isEmpty)
public enum JournalContract {
  /// A journal under test, empty at first.
  public protocol Subject {
    /// Appends a record.
    mutating func append(_ record: LifecycleRecord) throws
    /// Closes the journal and opens it again, as the next run of a program does.
    mutating func reopen() throws
    /// Returns all appended records, oldest first, without lines that the journal adds itself.
    func read() throws -> [LifecycleRecord]
  }

  /// Runs every scenario on a journal of its own.
  ///
  /// - Parameter makeSubject: makes an empty journal.
  /// - Returns: the broken rules; empty if the journal keeps the contract.
  /// - Throws: what the subject throws.
  public static func violations(of makeSubject: () throws -> any Subject) throws -> [ContractViolation] {
    var violations: [ContractViolation] = []
    func run(_ name: String, _ records: [LifecycleRecord], reopeningEvery interval: Int = .max) throws {
      var subject = try makeSubject()
      for (index, record) in records.enumerated() {
        if index > 0, index.isMultiple(of: interval) { try subject.reopen() }
        try subject.append(record)
      }
      violations += differences(between: try subject.read(), and: records, name)
      try subject.reopen()
      violations += differences(between: try subject.read(), and: records, "\(name), opened again")
    }
    try run("nothing", [])
    try run("a record of every kind", LifecycleRecord.Kind.allCases.map { Self.record($0) })
    try run("every state", ApplicationState.allCases.map { Self.record(.state, name: $0.rawValue, state: $0) })
    try run("odd names", oddNames.map { Self.record(.report, name: $0, scene: $0, cause: $0) })
    try run("odd times", oddTimes.map { Self.record(.input, at: $0) })
    try run("a thousand", (0..<1_000).map { Self.record(.notification, at: .milliseconds($0), name: "n\($0)") })
    try run("many short runs", (0..<50).map { Self.record(.input, name: "n\($0)") }, reopeningEvery: 3)
    return violations
  }

  private static let oddNames = [
    "", " ", "\"", "\\", "\n", "\r\n", "\t", "\u{0}", "\u{1F}", "\u{7F}", "é", "e\u{301}", "日本", "👩‍👩‍👧", "\u{2028}", "{}",
    "null",
    "a,b", String(repeating: "x", count: 5_000),
  ]

  private static let oddTimes: [Duration] = [
    .zero, .nanoseconds(1), .microseconds(1), .milliseconds(1), .milliseconds(1_500), .seconds(86_400),
    .seconds(8_000_000) + .nanoseconds(1),
  ]

  private static func record(
    _ kind: LifecycleRecord.Kind, at instant: Duration = .seconds(1), name: String = "name",
    state: ApplicationState = .active, scene: String? = nil, cause: String = "launch"
  ) -> LifecycleRecord {
    LifecycleRecord(
      instant: instant, kind: kind, name: name, state: state, scene: scene, cause: LifecycleCause(rawValue: cause),
      reason: kind == .ignored ? "the application is running already" : nil)
  }

  private static func differences(
    between found: [LifecycleRecord], and expected: [LifecycleRecord], _ scenario: String
  ) -> [ContractViolation] {
    guard found.count == expected.count else {
      return [
        ContractViolation(place: scenario, message: "\(found.count) records came back, \(expected.count) were appended")
      ]
    }
    return zip(found, expected).compactMap { found, expected in
      guard found != expected || found.jsonLine.utf8.elementsEqual(expected.jsonLine.utf8) == false else { return nil }
      return ContractViolation(place: scenario, message: "\(found.jsonLine) came back for \(expected.jsonLine)")
    }
  }
}
