import AppLifecycle
import LifecycleJournal

/// A journal in the Trace Event format, which chrome://tracing and Perfetto open: each run is a process, each lane a thread.
///
/// Each event is written when it has ended, and forgotten. Times are in microseconds since the first run began.
struct TraceEvents: TimelinePicture {
  private let output: OutputFile
  private var origin: Duration?
  private var run = TraceRun(session: 0, begin: .zero)
  private var isFirst = true

  init(to output: OutputFile) { self.output = output }

  mutating func begin(_ session: Int, _ header: RunHeader?, at begin: Duration, line: Int) throws {
    let start = header?.start ?? .zero
    let origin = origin ?? start
    self.origin = origin
    run = TraceRun(session: session, begin: begin - (start - origin))
    let program = header.map { "\($0.program), process \($0.processID)".cutForPicture } ?? "run \(session)"
    try write(run.name("process_name", of: 0, "#\(session) \(program)"))
  }

  mutating func take(_ line: TimelineLine?, _ ended: [TimelineItem], clock: JournalClockMark?) throws {
    for item in ended { try write(run.events(of: item)) }
  }

  mutating func end(_ ended: [TimelineItem], _ exit: PreviousExit) throws {
    try take(nil, ended, clock: nil)
  }

  /// Ends the trace, also after a failure, so that viewers can open the part that was written.
  mutating func finish() throws {
    try output.write(isFirst ? "\(Self.head)\n]}\n" : "\n]}\n")
    try output.finish()
  }

  private mutating func write(_ events: String) throws {
    try output.write("\(isFirst ? Self.head : ",")\n\(events)")
    isFirst = false
  }

  private static let head = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":["
}

/// The events of one run.
private struct TraceRun {
  let session: Int
  /// When the trace began, by the clock of the run's records.
  let begin: Duration
  private var threads: [TimelineLane: Int] = [:]
  private var lastThread = 0
  private var lastID = 0

  init(session: Int, begin: Duration) { (self.session, self.begin) = (session, begin) }

  /// Gives a process or a thread its name.
  func name(_ kind: String, of thread: Int, _ name: String) -> String {
    "{\"name\":\"\(kind)\",\"ph\":\"M\",\"pid\":\(session),\"tid\":\(thread),\"args\":{\"name\":\(name.asJSON)}}"
  }

  mutating func events(of item: TimelineItem) -> String {
    // Handlers and tasks may overlap, so they are asynchronous events, each of which has a row of its own.
    let isPair = item.lane == .handlers || item.lane == .tasks
    let (thread, naming) = thread(of: isPair ? .system : item.lane)
    let what = "{\"name\":\(item.name.asJSON),\"cat\":\(item.style.asJSON)"
    let args = "\"args\":{\"details\":\(item.details.asJSON)}}"
    if isPair {
      lastID += 1
      let pair = "\(what),\"id\":\"\(session).\(lastID)\""
      return "\(naming)\(pair),\"ph\":\"b\",\(place(thread, item.begin)),\(args),\n"
        + "\(pair),\"ph\":\"e\",\(place(thread, item.end))}"
    }
    if item.lane == .system {
      return "\(naming)\(what),\"ph\":\"i\",\"s\":\"p\",\(place(thread, item.begin)),\(args)"
    }
    let length = microseconds(max(item.end.instant - item.begin.instant, .zero))
    return "\(naming)\(what),\"ph\":\"X\",\(place(thread, item.begin)),\"dur\":\(length),\(args)"
  }

  /// The number of a lane's thread, and, if the lane is new, the events that name it.
  private mutating func thread(of lane: TimelineLane) -> (number: Int, naming: String) {
    if let thread = threads[lane] { return (thread, "") }
    // The names must not grow without end, so old ones are forgotten, and written again if the lane comes back.
    if threads.count >= 2 * TimelineBars.mostLanes { threads.removeAll() }
    lastThread += 1
    threads[lane] = lastThread
    let (place, _, title) = lane.appearance
    let order = "{\"name\":\"thread_sort_index\",\"ph\":\"M\",\"pid\":\(session),\"tid\":\(lastThread)"
    return (
      lastThread,
      "\(name("thread_name", of: lastThread, title)),\n\(order),\"args\":{\"sort_index\":\(place)}},\n"
    )
  }

  /// The process, thread and time of an event.
  ///
  /// The process is the run's number in the journal, as several runs may have had the same process number.
  private func place(_ thread: Int, _ place: TimelinePlace) -> String {
    "\"pid\":\(session),\"tid\":\(thread),\"ts\":\(microseconds(place.instant - begin))"
  }

  private func microseconds(_ duration: Duration) -> String { (duration * 1_000_000).decimalSeconds }
}
