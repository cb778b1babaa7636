import AppLifecycle
import LifecycleJournal

/// A journal in the Trace Event format, which chrome://tracing and Perfetto open: each run is a process, each lane a thread.
struct TraceEvents {
  let runs: [TimelineRun]

  /// The whole trace; times in microseconds since the first run began.
  var json: String {
    var events: [String] = []
    let origin = runs.first?.start ?? .zero
    for run in runs { events += self.events(of: run, since: origin) }
    return "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n\(events.joined(separator: ",\n"))\n]}\n"
  }

  private func events(of run: TimelineRun, since origin: Duration) -> [String] {
    // Several runs of one process number must not fall together: the run's own number tells them apart.
    let process = run.session
    let program = run.header.map { "\($0.program), process \($0.processID)" } ?? "run \(run.session)"
    func time(_ instant: Duration) -> String {
      microseconds(run.start - origin + (instant - (run.begin ?? .zero)))
    }
    func name(_ kind: String, _ thread: Int, _ name: String) -> String {
      "{\"name\":\"\(kind)\",\"ph\":\"M\",\"pid\":\(process),\"tid\":\(thread),\"args\":{\"name\":\(name.asJSON)}}"
    }
    func bar(_ bar: TimelineRun.Bar, _ thread: Int) -> String {
      "{\"name\":\(bar.name.asJSON),\"cat\":\(bar.style.asJSON),\"ph\":\"X\",\"pid\":\(process),\"tid\":\(thread),\"ts\":"
        + "\(time(bar.begin)),\"dur\":\(microseconds(bar.end - bar.begin)),\"args\":{\"details\":\(bar.details.asJSON)}}"
    }
    var events = [name("process_name", 0, "#\(run.session) \(program)"), name("thread_name", 1, "state")]
    events += run.states.map { bar($0, 1) }
    events.append(name("thread_name", 2, "calls and handlers"))
    events += run.calls.map { bar($0, 2) }
    events += run.marks.map { mark in
      "{\"name\":\(mark.name.asJSON),\"cat\":\(mark.style.asJSON),\"ph\":\"i\",\"s\":\"p\",\"pid\":\(process),\"tid\":3,"
        + "\"ts\":\(time(mark.instant)),\"args\":{\"details\":\(mark.details.asJSON)}}"
    }
    events.append(name("thread_name", 3, "system"))
    for (index, lane) in run.scenes.enumerated() {
      events.append(name("thread_name", 4 + index, "scene \(lane.scene)"))
      events += lane.bars.filter { $0.style != "unattached" }.map { bar($0, 4 + index) }
    }
    return events
  }

  private func microseconds(_ duration: Duration) -> String { (duration * 1_000_000).decimalSeconds }
}
