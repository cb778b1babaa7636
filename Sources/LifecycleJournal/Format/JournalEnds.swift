import AppLifecycle

// Lines that say why the lines after them are missing.

/// A fatal signal that the process received; the handler of the signal wrote the line.
public struct JournalCrash: Sendable, Hashable {
  /// The time of the records at which the signal came.
  public var instant: Duration
  /// The name of the signal, such as `SIGSEGV`.
  public var signal: String

  /// The crash as one line of JSON, without the line feed.
  public var jsonLine: String {
    "{\"journal\":\"crash\",\"t\":\(instant.decimalSeconds),\"signal\":\(signal.asJSON)}"
  }

  package init(instant: Duration, signal: String) { (self.instant, self.signal) = (instant, signal) }

  init?(_ object: JSONObject) {
    guard let instant = object.duration("t"), let signal = object.string("signal"), signal.utf8.count <= 16,
      signal.hasPrefix("SIG"), signal.utf8.allSatisfy({ 0x30...0x39 ~= $0 || 0x41...0x5A ~= $0 })
    else { return nil }
    self.init(instant: instant, signal: signal)
  }
}

/// The place in a journal from which on it could not be written.
///
/// A ``JournalGap`` follows if it could be written again. Until then only the records that say how the run ends may
/// follow, as far as the room that was reserved for them lasts.
public struct JournalStop: Sendable, Hashable {
  /// The time of the records at which the first line was lost.
  public var instant: Duration
  /// The failure in one line, as ``JournalFailure/description``.
  public var error: String

  /// The stop as one line of JSON, without the line feed.
  public var jsonLine: String {
    "{\"journal\":\"stopped\",\"t\":\(instant.decimalSeconds),\"error\":\(error.asJSON)}"
  }

  package init(instant: Duration, error: String) { (self.instant, self.error) = (instant, error) }

  init?(_ object: JSONObject) {
    guard let instant = object.duration("t"), let error = object.string("error") else { return nil }
    self.init(instant: instant, error: error)
  }
}
