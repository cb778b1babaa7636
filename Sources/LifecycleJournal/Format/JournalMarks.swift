import AppLifecycle

/// A place in a journal at which records are missing because the journal could not be written for a while.
public struct JournalGap: Sendable, Hashable {
  /// The time of the records at which the first record was lost.
  public var since: Duration
  /// The time of the records at which the journal could be written again.
  public var instant: Duration
  /// The number of lost lines: records and entries.
  public var lost: Int
  /// The failure in one line, as ``JournalFailure/description``.
  public var error: String

  /// The gap as one line of JSON, without the line feed.
  public var jsonLine: String {
    "{\"journal\":\"gap\",\"t\":\(instant.decimalSeconds),\"since\":\(since.decimalSeconds),\"lost\":\(lost)"
      + ",\"error\":\(error.asJSON)}"
  }

  package init(since: Duration, instant: Duration, lost: Int, error: String) {
    (self.since, self.instant, self.lost, self.error) = (since, instant, lost, error)
  }

  init?(_ object: JSONObject) {
    guard let instant = object.duration("t"), let since = object.duration("since"),
      let lost: Int = object.count("lost"), lost >= 0, let error = object.string("error")
    else { return nil }
    self.init(since: since, instant: instant, lost: lost, error: error)
  }
}

/// The other clocks at a time of the records, written when one of them differs from what the line before predicts.
///
/// The records' clock stands still while the machine sleeps. The wall clock can be set. The time since the device's start
/// counts sleep and is never set, so lengths are measured by it.
public struct JournalClockMark: Sendable, Hashable {
  /// The time of the records.
  public var instant: Duration
  /// The time of the wall clock, since 1970 in UTC.
  public var wallTime: Duration
  /// The time since the device's start, sleep included; nil in journals of earlier versions.
  public var uptime: Duration?

  /// The mark as one line of JSON, without the line feed.
  public var jsonLine: String {
    let up = uptime.map { ",\"up\":\($0.decimalSeconds)" } ?? ""
    return "{\"journal\":\"clock\",\"t\":\(instant.decimalSeconds),\"wall\":\(wallTime.decimalSeconds)\(up)}"
  }

  package init(instant: Duration, wallTime: Duration, uptime: Duration? = nil) {
    (self.instant, self.wallTime, self.uptime) = (instant, wallTime, uptime)
  }

  /// Makes the mark that a header contains.
  package init(of header: RunHeader) {
    self.init(instant: header.instant, wallTime: header.wallTime, uptime: header.uptime)
  }

  init?(_ object: JSONObject) {
    guard let instant = object.duration("t"), let wallTime = object.duration("wall"),
      let uptime = object.optionalDuration("up")
    else { return nil }
    self.init(instant: instant, wallTime: wallTime, uptime: uptime)
  }
}
