import AppLifecycle
import LifecycleJournal

/// A journal as one page that stands alone: it asks nothing of the network, and says so to the browser.
struct TimelinePage {
  let runs: [TimelineRun]
  let title: String

  /// The page.
  var html: String {
    var html = """
      <!DOCTYPE html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <meta name="color-scheme" content="light dark">
      <link rel="icon" href="data:,">
      <title>\(title.asHTML)</title>
      <style>\(Self.style)</style>
      </head>
      <body>
      <header>
      <h1>\(title.asHTML)</h1>
      <label>Width <input id="zoom" type="range" min="0" max="12" step="0.25" value="0"></label>
      <p class="key">\(Self.key)</p>
      </header>
      <main>

      """
    for run in runs { html += section(of: run) }
    if runs.isEmpty { html += "<p>There is no run in this journal.</p>\n" }
    return html + "</main>\n<script>\(Self.script)</script>\n</body>\n</html>\n"
  }

  private func section(of run: TimelineRun) -> String {
    let scale = Scale(begin: run.begin ?? .zero, end: run.end)
    var lanes = [lane("state", run.states.map { scale.bar($0) })]
    lanes += run.scenes.map { lane in
      self.lane("scene \(lane.scene)", lane.bars.filter { $0.style != "unattached" }.map { scale.bar($0) })
    }
    lanes.append(lane("calls", run.calls.filter { $0.style == "call" }.map { scale.bar($0) }))
    lanes.append(lane("handlers", run.calls.filter { $0.style == "handlers" }.map { scale.bar($0) }))
    lanes.append(lane("system", run.marks.map { scale.mark($0) }))
    let heading = run.header.map { "\($0.program), process \($0.processID), \($0.start.localDateTime)" }
    return """
      <section class="run" data-session="\(run.session)">
      <h2>#\(run.session) \((heading ?? "the beginning is not kept").asHTML) <small>\(scale.length.brief)</small></h2>
      <div class="scroll"><div class="lanes">
      \(lanes.joined(separator: "\n"))
      <div class="axis">\(scale.ticks)</div>
      </div></div>
      </section>

      """
  }

  private func lane(_ name: String, _ items: [String]) -> String {
    "<div class=\"lane\" data-lane=\"\(name.asHTML)\"><span class=\"name\">\(name.asHTML)</span>\n"
      + items.joined(separator: "\n") + "</div>"
  }

  /// Places times on the page: percent of a lane's width, which the page can stretch.
  private struct Scale {
    let begin: Duration
    let length: Duration

    init(begin: Duration, end: Duration) {
      self.begin = begin
      length = end - begin
    }

    func percent(_ duration: Duration) -> String {
      guard length > .zero else { return "0%" }
      return "\((max(.zero, duration) / length * 100_000).rounded() / 1_000)%"
    }

    func bar(_ bar: TimelineRun.Bar) -> String {
      let when = "at \((bar.begin - begin).brief), for \((bar.end - bar.begin).brief)"
      let text = "\(bar.name)\n\(when)\n\(bar.details)".asHTML
      return
        "<div class=\"bar \(bar.style)\" tabindex=\"0\" title=\"\(text)\" style=\"left:\(percent(bar.begin - begin));"
        + "width:\(percent(bar.end - bar.begin))\"><span>\(bar.name.asHTML)</span></div>"
    }

    func mark(_ mark: TimelineRun.Mark) -> String {
      let text = "\(mark.name)\nat \((mark.instant - begin).brief)\n\(mark.details)".asHTML
      return "<div class=\"mark \(mark.style)\" tabindex=\"0\" title=\"\(text)\" "
        + "style=\"left:\(percent(mark.instant - begin))\"></div>"
    }

    var ticks: String {
      (0...8).map { step in
        let place = length * step / 8
        return "<span style=\"left:\(percent(place))\">\(place.brief)</span>"
      }.joined()
    }
  }

  private static let key =
    ApplicationState.allCases.map { "<span class=\"swatch \($0.rawValue)\"></span>\($0.rawValue)" }
    .joined(separator: " ")

  private static let style = """

    :root { color-scheme: light dark; --ink: #1c1c1e; --paper: #fff; --line: #d8d8dc; --faint: #6b6b70;
      --active: #34a853; --inactive: #f2b705; --background: #4c8dff; --suspended: #9b7bd8; --notRunning: #c7c7cc;
      --call: #0f8b8d; --handlers: #d1603d; --alarm: #d93025; }
    @media (prefers-color-scheme: dark) { :root { --ink: #f2f2f7; --paper: #16161a; --line: #3a3a40; --faint: #98989f;
      --active: #2f9e4d; --inactive: #c99700; --background: #3a73d9; --suspended: #7f61bd; --notRunning: #55555c; } }
    body { margin: 0; font: 14px/1.4 system-ui, sans-serif; color: var(--ink); background: var(--paper); }
    header, section { padding: 0.5rem 1rem; }
    header { display: flex; flex-wrap: wrap; gap: 0.5rem 2rem; align-items: baseline; }
    h1 { font-size: 1.2rem; margin: 0; } h2 { font-size: 1rem; margin: 0.5rem 0; } small, .key { color: var(--faint); }
    .key { margin: 0; } .swatch { display: inline-block; width: 0.8em; height: 0.8em; margin: 0 0.3em 0 0.8em; }
    .scroll { overflow-x: auto; border: 1px solid var(--line); border-radius: 4px; }
    .lanes { position: relative; margin: 0 2rem 0 6.5rem; }
    .lane { position: relative; height: 1.7rem; border-bottom: 1px solid var(--line); }
    .lane .name { position: sticky; left: 0; display: inline-block; width: 6rem; margin-left: -6.5rem; overflow: hidden;
      text-overflow: ellipsis; white-space: nowrap; padding: 0.2rem 0 0 0.4rem; color: var(--faint); z-index: 2; }
    .bar { position: absolute; top: 0.15rem; height: 1.4rem; min-width: 2px; overflow: hidden; border-radius: 2px;
      color: #fff; font-size: 0.75rem; white-space: nowrap; }
    .bar span { padding: 0 0.3rem; line-height: 1.4rem; }
    .mark { position: absolute; top: 0.25rem; width: 3px; margin-left: -1px; height: 1.2rem; background: var(--ink); }
    .bar:hover, .bar:focus, .mark:hover, .mark:focus { outline: 2px solid var(--ink); z-index: 1; }
    .active, .foregroundActive { background: var(--active); } .inactive, .foregroundInactive { background: var(--inactive); }
    .background { background: var(--background); } .suspended { background: var(--suspended); }
    .notRunning { background: var(--notRunning); } .call { background: var(--call); } .handlers { background: var(--handlers); }
    .mark.report, .mark.gap { background: var(--alarm); } .mark.ignored { background: var(--line); }
    .axis { position: relative; height: 1.3rem; color: var(--faint); font-size: 0.75rem; }
    .axis span { position: absolute; transform: translateX(-50%); white-space: nowrap; }

    """

  private static let script = """

    document.getElementById("zoom").addEventListener("input", event => {
      for (const lanes of document.querySelectorAll(".lanes")) {
        lanes.style.width = `calc((100% - 8.5rem) * ${2 ** event.target.value})`;
      }
    });

    """
}

extension String {
  /// The text for a page: nothing in it is a tag, and what a reader could not see is written out.
  fileprivate var asHTML: String {
    split(separator: "\n", omittingEmptySubsequences: false).map { line in
      String(line).printable.reduce(into: "") { html, character in
        switch character {
        case "&": html += "&amp;"
        case "<": html += "&lt;"
        case ">": html += "&gt;"
        case "\"": html += "&quot;"
        default: html.append(character)
        }
      }
    }.joined(separator: "&#10;")
  }
}
