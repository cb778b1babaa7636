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

  package init(
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
