/// The content of a record of the kind ``LifecycleRecord/Kind/report``: its name in the record is `KIND:NAME`.
package struct LifecycleReport: Sendable, Hashable {
  /// The kind of a report; the raw value is its word in records.
  package enum Kind: String, Sendable, Hashable, CaseIterable {
    /// Code overran a budget.
    case watchdog
    /// A background task was not ended in time.
    case backgroundTimeExpired
    /// A background task was ended twice.
    case taskEndedTwice
    /// Background tasks are begun again and again, although they are refused.
    case refusedEndlessly
    /// An observer threw its first error.
    case observerFailed
  }

  package let kind: Kind
  /// The name of the code or background task.
  package let name: String

  package init(_ kind: Kind, _ name: String) { (self.kind, self.name) = (kind, name) }

  /// Reads the name of a record; nil if its word is not known, as that of a newer version.
  package init?(recordName: String) {
    // Not by characters: a name may begin with a mark that combines with the colon.
    guard let colon = recordName.utf8.firstIndex(of: UInt8(ascii: ":")) else { return nil }
    guard let kind = Kind(rawValue: String(recordName[..<colon])) else { return nil }
    self.init(kind, String(recordName.utf8[colon...].dropFirst()) ?? "")
  }

  /// The name in a record.
  package var recordName: String { "\(kind.rawValue):\(name)" }
}

extension LifecycleRecord {
  /// The content of a report; nil for a record of another kind, and for a report of a newer version.
  package var report: LifecycleReport? { kind == .report ? LifecycleReport(recordName: name) : nil }
}
