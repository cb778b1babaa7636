public import AppLifecycle

/// The contents of one line of a journal.
public enum JournalLine: Sendable, Hashable {
  /// A run begins, or continues in this file.
  case run(RunHeader)
  /// Something happened in the application's life cycle.
  case record(LifecycleRecord)
  /// A call of the program's code has ended: a handler, a resource, a background task.
  case entry(LedgerEntry)
  /// Records are missing here.
  case gap(JournalGap)
  /// The wall clock differs from what the line before predicts.
  case clock(JournalClockMark)
  /// The process received a fatal signal.
  case crash(JournalCrash)
  /// From here on the journal could not be written.
  case stopped(JournalStop)
  /// The program still ran at this time of the records, without any event for a while.
  case alive(Duration)
  /// A journal line of a kind that a later version of the format has added, with the kind.
  case unknown(String)
}

extension JournalLine {
  /// The time of the records at which the line was written; nil for a line of an unknown kind.
  package var instant: Duration? {
    switch self {
    case .run(let header): header.instant
    case .record(let record): record.instant
    case .entry(let entry): entry.ended
    case .gap(let gap): gap.instant
    case .clock(let mark): mark.instant
    case .crash(let crash): crash.instant
    case .stopped(let stop): stop.instant
    case .alive(let instant): instant
    case .unknown: nil
    }
  }

  /// Parses a line, which may contain anything, without its line feed.
  static func read(_ bytes: UnsafeBufferPointer<UInt8>) -> Result<JournalLine, DamagedLine> {
    guard let object = JSONObject(bytes) else { return .failure(DamagedLine(damage: .notJSON)) }
    guard object["journal"] != nil else {
      return LifecycleRecord(object).map { .success(.record($0)) } ?? .failure(DamagedLine(in: object))
    }
    // A newer version may use other keys, but always these two for the header and the version.
    if object.string("journal") == "run", let version: Int = object.count("version"), version > RunHeader.formatVersion
    {
      return .failure(DamagedLine(damage: .newerVersion(version)))
    }
    let line: JournalLine? =
      switch object.string("journal") {
      case "run": RunHeader(object).map { .run($0) }
      case "entry": LedgerEntry(object).map { .entry($0) }
      case "gap": JournalGap(object).map { .gap($0) }
      case "clock": JournalClockMark(object).map { .clock($0) }
      case "crash": JournalCrash(object).map { .crash($0) }
      case "stopped": JournalStop(object).map { .stopped($0) }
      case "alive": object.duration("t").map { .alive($0) }
      case let kind?: .unknown(kind)
      case nil: nil
      }
    return line.map { .success($0) } ?? .failure(DamagedLine(in: object))
  }

  struct DamagedLine: Error {
    let damage: JournalDamage

    init(damage: JournalDamage) { self.damage = damage }

    /// The damage of an object that is no line of the format.
    init(in object: JSONObject) { damage = object.numberOutOfRange ?? .notInFormat }
  }
}
