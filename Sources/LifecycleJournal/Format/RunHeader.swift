public import AppLifecycle

/// The header of a run in a journal: the program, the time, and the device's start.
///
/// A journal that continues in a new file repeats it there, with the next ``part``, so that each file can be read
/// alone.
public struct RunHeader: Sendable, Hashable {
  /// The version of the format that this module writes, and the highest that it reads.
  public static let formatVersion = 1

  /// The version of the format.
  public var version: Int = RunHeader.formatVersion
  /// An identifier of the run, unique in the journal.
  public var run: String
  /// The number of this header in the run: 0 for the first, then 1, 2 and so on for each file in which the run
  /// continues.
  public var part: Int
  /// The program's name.
  public var program: String
  /// The process identifier.
  public var processID: Int32
  /// An identifier of the device's start; nil if the system has none.
  public var bootID: String?
  /// The wall-clock time at which the recording of the run began, since 1970 in UTC.
  public var start: Duration
  /// The time of the records when this line was written.
  public var instant: Duration
  /// The time of the wall clock when this line was written, since 1970 in UTC.
  public var wallTime: Duration
  /// The time since the device's start, sleep included, at which the recording of the run began; nil in journals of
  /// earlier versions.
  public var startUptime: Duration?
  /// The time since the device's start, sleep included, when this line was written; nil in journals of earlier versions.
  public var uptime: Duration?
  /// The application's state when this line was written.
  public var state: ApplicationState

  /// Makes the header of a run.
  ///
  /// - Parameters:
  ///   - run: an identifier of the run, unique in the journal.
  ///   - part: the number of this header in the run, from 0.
  ///   - program: the program's name.
  ///   - processID: the process identifier.
  ///   - bootID: an identifier of the device's start; nil if the system has none.
  ///   - start: the wall-clock time at which the recording of the run began, since 1970 in UTC.
  ///   - instant: the time of the records.
  ///   - wallTime: the wall-clock time at `instant`, since 1970 in UTC.
  ///   - startUptime: the time since the device's start at which the recording of the run began; nil if it is unknown.
  ///   - uptime: the time since the device's start at `instant`; nil if it is unknown.
  ///   - state: the application's state.
  public init(
    run: String, part: Int = 0, program: String, processID: Int32, bootID: String?, start: Duration,
    instant: Duration = .zero, wallTime: Duration, startUptime: Duration? = nil, uptime: Duration? = nil,
    state: ApplicationState = .notRunning
  ) {
    self.run = run
    self.part = part
    self.program = program
    self.processID = processID
    self.bootID = bootID
    self.start = start
    self.instant = instant
    self.wallTime = wallTime
    self.startUptime = startUptime
    self.uptime = uptime
    self.state = state
  }

  /// The header as one line of JSON, without the line feed.
  public var jsonLine: String {
    var line = "{\"journal\":\"run\",\"version\":\(version),\"run\":\(run.asJSON),\"part\":\(part)"
    line += ",\"program\":\(program.asJSON),\"pid\":\(processID),\"boot\":\(bootID?.asJSON ?? "null")"
    line += ",\"start\":\(start.decimalSeconds),\"t\":\(instant.decimalSeconds),\"wall\":\(wallTime.decimalSeconds)"
    if let startUptime { line += ",\"upStart\":\(startUptime.decimalSeconds)" }
    if let uptime { line += ",\"up\":\(uptime.decimalSeconds)" }
    return line + ",\"state\":\(state.rawValue.asJSON)}"
  }

  /// Returns whether a run begins with this header.
  ///
  /// - Parameter previous: the header before it; nil if it is the first.
  /// - Returns: false if the run of the header before it goes on.
  package func begins(after previous: RunHeader?) -> Bool { part == 0 || run != previous?.run }

  init?(_ object: JSONObject) {
    guard let version: Int = object.count("version"), version >= 1, let run = object.string("run"),
      let part: Int = object.count("part"), let program = object.string("program"),
      let processID: Int32 = object.count("pid"), let bootID = object.optionalString("boot"),
      let start = object.duration("start"), let instant = object.duration("t"), let wallTime = object.duration("wall"),
      let startUptime = object.optionalDuration("upStart"), let uptime = object.optionalDuration("up"),
      let state = object.string("state").flatMap(ApplicationState.init(rawValue:))
    else { return nil }
    self.init(
      run: run, part: part, program: program, processID: processID, bootID: bootID, start: start,
      instant: instant, wallTime: wallTime, startUptime: startUptime, uptime: uptime, state: state)
    self.version = version
  }
}

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

  /// Makes a gap.
  ///
  /// - Parameters:
  ///   - since: the time of the records at which the first record was lost.
  ///   - instant: the time of the records at which the journal could be written again.
  ///   - lost: the number of lost lines.
  ///   - error: the failure in one line.
  public init(since: Duration, instant: Duration, lost: Int, error: String) {
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

  /// Makes a mark.
  ///
  /// - Parameters:
  ///   - instant: the time of the records.
  ///   - wallTime: the wall-clock time at `instant`, since 1970 in UTC.
  ///   - uptime: the time since the device's start at `instant`; nil if it is unknown.
  public init(instant: Duration, wallTime: Duration, uptime: Duration? = nil) {
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
