import AppLifecycle
import LifecycleJournal

/// A journal as one page that stands alone: it asks nothing of the network, and says so to the browser.
///
/// The page holds the runs as data, and draws them itself: for the window's width, zoomed, with time compressed or not.
struct TimelinePage {
  let runs: [TimelineRun]
  let title: String
  /// How each run ended, by the run's number.
  let exits: [Int: PreviousExit.Kind]

  /// The page.
  var html: String {
    """
    <!DOCTYPE html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <link rel="icon" href="data:,">
    <title>\(title.asHTML)</title>
    <style>
    \(Self.style)
    </style>
    </head>
    <body>
    <header>
    <div><h1>\(title.asHTML)</h1>
    <p id="overview">\(overview)</p></div>
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
    \(runs.isEmpty ? "<p>There is no run in this journal.</p>" : "")
    </main>
    <div id="tip" role="tooltip" hidden></div>
    <script type="application/json" id="data">\(data)</script>
    <script>
    \(Self.script)
    </script>
    </body>
    </html>

    """
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
    return "<ul class=\"key\" aria-label=\"Colours\">\(items.joined())</ul>"
  }()

  // MARK: Data

  /// The runs as JSON that may stand in a page: no tag can begin in it.
  private var data: String {
    let text = "[\n" + runs.map(json).joined(separator: ",\n") + "\n]"
    return text.contains("<") ? String(text.flatMap { $0 == "<" ? Array("\\u003c") : [$0] }) : text
  }

  private func json(of run: TimelineRun) -> String {
    let title = run.header.map { "\($0.program), process \($0.processID)" } ?? "a recorded run"
    // What only a script has played has no process that could have ended.
    let exit = run.header == nil ? nil : exits[run.session]
    let lanes =
      [lane("state", "states", run.states.map { json(of: $0, in: run) })]
      + run.scenes.map { scene in
        lane(
          "scene \(scene.name)", "scenes", scene.bars.filter { $0.style != "unattached" }.map { json(of: $0, in: run) })
      }
      + [lane("delegate and notifications", "calls", run.calls.map { json(of: $0, in: run) })]
      + [lane("handlers", "flags", run.handlers.map { json(of: $0, in: run) })]
      + run.resources.map { resource in
        lane(resource.name, "resources", resource.bars.filter { $0.style != "gone" }.map { json(of: $0, in: run) })
      }
      + [
        lane("background tasks", "flags", run.tasks.map { json(of: $0, in: run) }),
        lane("system", "marks", run.marks.map { json(of: $0, in: run) }),
      ]
    let shares = ApplicationState.allCases.compactMap { state in
      run.summary.times[state].map { "[\"\(state.rawValue)\",\($0.decimalSeconds)]" }
    }
    var text = "{\"session\":\(run.session),\"title\":\(title.printable.asJSON)"
    text += ",\"start\":\((run.header?.start.localDateTime ?? "").asJSON),\"zone\":\(run.start.secondsEastOfGreenwich)"
    text += ",\"ended\":\((exit?.text ?? "").asJSON),\"isAlarming\":\(exit?.isAlarming ?? false)"
    text += ",\"shares\":[\(shares.joined(separator: ","))]"
    text += ",\"times\":[\(run.lines.map { ($0.instant - run.begin).decimalSeconds }.joined(separator: ","))]"
    text += ",\"shown\":\"\(run.lines.map { $0.isShown ? "1" : "0" }.joined())\""
    let clocks = run.clocks.map { "[\(($0.instant - run.begin).decimalSeconds),\($0.wallTime.decimalSeconds)]" }
    text += ",\"clocks\":[\(clocks.joined(separator: ","))]"
    return text + ",\"lanes\":[\n\(lanes.compactMap(\.self).joined(separator: ",\n"))]}"
  }

  /// A lane; nil where there is nothing on it.
  private func lane(_ name: String, _ kind: String, _ items: [String]) -> String? {
    if items.isEmpty { return nil }
    return "{\"name\":\(name.printable.asJSON),\"kind\":\"\(kind)\",\"items\":[\(items.joined(separator: ",\n"))]}"
  }

  private func json(of bar: TimelineRun.Bar, in run: TimelineRun) -> String {
    json(bar.name, bar.isAlarming ? "\(bar.style) late" : bar.style, bar.begin, bar.end, bar.details, run)
  }

  private func json(of mark: TimelineRun.Mark, in run: TimelineRun) -> String {
    json(mark.name, mark.style, mark.place, mark.place, mark.details, run)
  }

  private func json(
    _ name: String, _ style: String, _ begin: TimelineRun.Place, _ end: TimelineRun.Place, _ details: String,
    _ run: TimelineRun
  ) -> String {
    func place(_ place: TimelineRun.Place) -> String { "\((place.instant - run.begin).decimalSeconds),\(place.line)" }
    let details = details.split(separator: "\n").map { String($0).printable }.joined(separator: "\n")
    return "[\(name.printable.asJSON),\"\(style)\",\(place(begin)),\(place(end)),\(details.asJSON)]"
  }
}

extension String {
  /// The text for a page: nothing in it is a tag, and what a reader could not see is written out.
  fileprivate var asHTML: String {
    printable.reduce(into: "") { html, character in
      switch character {
      case "&": html += "&amp;"
      case "<": html += "&lt;"
      case ">": html += "&gt;"
      case "\"": html += "&quot;"
      default: html.append(character)
      }
    }
  }
}
