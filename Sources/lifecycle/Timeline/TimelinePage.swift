import AppLifecycle
import LifecycleJournal

/// A journal as one self-contained page, which forbids the browser to use the network.
///
/// The page holds the runs as data, and draws them itself: for the window's width, zoomed, with time compressed or not.
struct TimelinePage {
  let runs: [TimelineRun]
  let title: String
  /// A text that says what the page leaves out; nil if it leaves out nothing.
  let omission: String?

  /// Writes the page, run by run.
  func write(to output: OutputFile) throws {
    try output.write(head)
    for (index, run) in runs.enumerated() {
      try output.write("\(index == 0 ? "" : ",")\n\(json(of: run).asScriptData)")
    }
    try output.write(Self.foot)
  }

  /// The page up to its runs.
  private var head: String {
    """
    \(HTMLPage.head(title: title, style: Self.style))
    <header>
    <div><h1>\(title.asHTML)</h1>
    <p id="overview">\(overview)</p>\(note)</div>
    <div class="tools" role="group" aria-label="Time axis">
    <label><input type="checkbox" id="scale"> true to scale</label>
    <button type="button" id="out" aria-label="Zoom out" title="Zoom out (−)">−</button>
    <input type="range" id="zoom" min="0" max="10" step="0.25" value="0" aria-label="Zoom">
    <button type="button" id="in" aria-label="Zoom in" title="Zoom in (+)">+</button>
    </div>
    \(Self.key)
    </header>
    <main>
    <noscript><p>This page is drawn by its script. <code>lifecycle log</code> prints the same as text.</p></noscript>
    \(runs.isEmpty ? "<p>There is nothing to show.</p>" : "")
    </main>
    <div id="tip" role="tooltip" hidden></div>
    <script type="application/json" id="data">[
    """
  }

  /// The page after its runs.
  private static let foot = "\n]</script>\n" + HTMLPage.foot(script: script)

  private var note: String {
    guard let omission, let first = omission.first else { return "" }
    return "\n<p id=\"omission\" role=\"note\">\("\(first.uppercased())\(omission.dropFirst()).".asHTML)</p>"
  }

  private var overview: String {
    guard let first = runs.first, let last = runs.last else { return "" }
    let count = runs.count == 1 ? "1 run" : "\(runs.count) runs"
    guard first.header != nil, let end = last.clocks.last else { return count }
    let until = end.wallTime + (last.end - end.instant)
    return "\(count), \(first.start.localDateTime) to \(until.localDateTime)"
  }

  private static let key: String = {
    let states = [ApplicationState.active, .inactive, .background, .suspended, .notRunning].map {
      ($0.rawValue, $0.rawValue)
    }
    let others = [
      ("call", "delegate’s method"), ("handlers", "notification"), ("handler", "handler"), ("held", "resource held"),
      ("acquire release", "acquire, release"), ("task", "background task"),
      ("late report gap", "late, failed or missing"),
    ]
    let items = (states + others).map { styles, name in
      "<li data-styles=\"\(styles)\"><span class=\"swatch \(styles)\"></span>\(name)</li>"
    }
    return "<ul class=\"key\" aria-label=\"Colors\">\(items.joined())</ul>"
  }()

  // MARK: Data

  private func json(of run: TimelineRun) -> String {
    let summary = run.exit?.run ?? RunSummary()
    let title = run.header.map { "\($0.program), process \($0.processID)" } ?? summary.nameWithoutHeader
    let exit = summary.isOnlyRecorded ? nil : run.exit
    let lanes = run.lanes.map { lane, items in
      "{\"name\":\(lane.appearance.title.printable.asJSON),\"kind\":\"\(lane.appearance.kind)\",\"items\":["
        + items.map { json(of: $0, in: run) }.joined(separator: ",\n") + "]}"
    }
    let shares = ApplicationState.allCases.compactMap { state in
      run.exit?.run.times[state].map { "[\"\(state.rawValue)\",\($0.decimalSeconds)]" }
    }
    var text = "{\"session\":\(run.session),\"title\":\(title.printable.asJSON)"
    text += ",\"start\":\((run.header?.start.localDateTime ?? "").asJSON)"
    text += ",\"ended\":\((exit?.text ?? "").asJSON),\"isAlarming\":\(exit?.isAlarming ?? false)"
    text += ",\"omitted\":\(run.firstLine),\"shares\":[\(shares.joined(separator: ","))]"
    text += ",\"times\":[\(run.lines.map { ($0.instant - run.begin).decimalSeconds }.joined(separator: ","))]"
    text += ",\"shown\":\"\(run.lines.map { $0.isShown ? "1" : "0" }.joined())\""
    let clocks = run.clocks.map { mark in
      let local = mark.wallTime + .seconds(mark.wallTime.secondsEastOfGreenwich)
      return "[\((mark.instant - run.begin).decimalSeconds),\(local.decimalSeconds)]"
    }
    text += ",\"clocks\":[\(clocks.joined(separator: ","))]"
    return text + ",\"lanes\":[\n\(lanes.joined(separator: ",\n"))]}"
  }

  private func json(of item: TimelineItem, in run: TimelineRun) -> String {
    func place(_ place: TimelinePlace) -> String {
      "\((place.instant - run.begin).decimalSeconds),\((place.line ?? 0) - run.firstLine)"
    }
    let details = item.details.split(separator: "\n").map { String($0).printable }.joined(separator: "\n")
    let style = item.isAlarming ? "\(item.style) late" : item.style
    return "[\(item.name.printable.asJSON),\(style.asJSON),\(place(item.begin)),\(place(item.end)),\(details.asJSON)]"
  }
}
