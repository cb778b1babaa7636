import AppLifecycle
import LifecycleJournal

/// A journal in the Trace Event format, which chrome://tracing and Perfetto open: each run is a process, each lane a thread.
struct TraceEvents {
  let runs: [TimelineRun]

  /// The whole trace; times in microseconds since the first run began.
  var json: String {
    let origin = runs.first?.start ?? .zero
    let events = runs.flatMap { run in
      var events = RunEvents(run: run, origin: origin)
      return events.all()
    }
    return "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n\(events.joined(separator: ",\n"))\n]}\n"
  }
}

private struct RunEvents {
  let run: TimelineRun
  let origin: Duration
  private var lastID = 0

  init(run: TimelineRun, origin: Duration) { (self.run, self.origin) = (run, origin) }

  mutating func all() -> [String] {
    let program = run.header.map { "\($0.program), process \($0.processID)" } ?? "run \(run.session)"
    var events = [name("process_name", 0, "#\(run.session) \(program)")]
    var thread = 0
    func lane(_ name: String, _ bars: [TimelineRun.Bar]) {
      guard !bars.isEmpty else { return }
      thread += 1
      events.append(self.name("thread_name", thread, name))
      events += bars.map { bar($0, thread) }
    }
    lane("state", run.states)
    for scene in run.scenes { lane("scene \(scene.name)", scene.bars.filter { $0.style != "unattached" }) }
    lane("calls and handlers", run.calls)
    for resource in run.resources { lane("resource \(resource.name)", resource.bars.filter { $0.style != "gone" }) }
    thread += 1
    events.append(name("thread_name", thread, "system"))
    events += run.marks.map { mark in
      "{\"name\":\(mark.name.asJSON),\"cat\":\(mark.style.asJSON),\"ph\":\"i\",\"s\":\"p\",\(place(thread, mark.place)),"
        + "\"args\":{\"details\":\(mark.details.asJSON)}}"
    }
    // Handlers and tasks overlap as they like; as asynchronous events each has a row of its own.
    for bar in run.handlers + run.tasks { events += pair(bar, thread) }
    return events
  }

  /// Several runs of one process number must not fall together: the run's own number tells them apart.
  private func place(_ thread: Int, _ place: TimelineRun.Place) -> String {
    "\"pid\":\(run.session),\"tid\":\(thread),\"ts\":\(microseconds(run.start - origin + (place.instant - run.begin)))"
  }

  private func name(_ kind: String, _ thread: Int, _ name: String) -> String {
    "{\"name\":\"\(kind)\",\"ph\":\"M\",\"pid\":\(run.session),\"tid\":\(thread),\"args\":{\"name\":\(name.asJSON)}}"
  }

  private func bar(_ bar: TimelineRun.Bar, _ thread: Int) -> String {
    "{\"name\":\(bar.name.asJSON),\"cat\":\(bar.style.asJSON),\"ph\":\"X\",\(place(thread, bar.begin)),"
      + "\"dur\":\(microseconds(bar.end.instant - bar.begin.instant)),\"args\":{\"details\":\(bar.details.asJSON)}}"
  }

  private mutating func pair(_ bar: TimelineRun.Bar, _ thread: Int) -> [String] {
    lastID += 1
    let what = "{\"name\":\(bar.name.asJSON),\"cat\":\(bar.style.asJSON),\"id\":\"\(run.session).\(lastID)\""
    return [
      "\(what),\"ph\":\"b\",\(place(thread, bar.begin)),\"args\":{\"details\":\(bar.details.asJSON)}}",
      "\(what),\"ph\":\"e\",\(place(thread, bar.end))}",
    ]
  }

  private func microseconds(_ duration: Duration) -> String { (duration * 1_000_000).decimalSeconds }
}
