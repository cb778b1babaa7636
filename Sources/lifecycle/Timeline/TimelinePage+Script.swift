extension TimelinePage {
  /// The script that draws the page from its data: lanes of items, each of which the pointer and the keyboard can reach.
  static let script = [words, chart, start].joined(separator: "\n\n")

  /// The script that formats times and computes their positions.
  private static let words = #"""
    const runs = JSON.parse(document.getElementById("data").textContent);
    const [zoom, scale, tip] = ["zoom", "scale", "tip"].map(id => document.getElementById(id));
    const SLOT = 13, ROW = 18, MOST_ROWS = 16, MOST_PAINTED = 3000, TAIL = 10;
    const charts = [];

    // MARK: Words

    const two = number => String(number).padStart(2, "0");

    function brief(seconds) {
      const whole = Math.floor(seconds + 1e-9);
      if (whole === 0) {
        const ms = seconds * 1000;
        return ms === 0 ? "0s" : ms < 10 ? `${+ms.toFixed(ms < 1 ? 3 : 1)}ms` : `${Math.round(ms)}ms`;
      }
      if (whole < 60) return `${+(Math.floor(seconds * 10 + 1e-6) / 10).toFixed(1)}s`;
      if (whole < 3600) return `${Math.floor(whole / 60)}m ${two(whole % 60)}s`;
      if (whole < 86400) return `${Math.floor(whole / 3600)}h ${two(Math.floor(whole % 3600 / 60))}m`;
      return `${Math.floor(whole / 86400)}d ${two(Math.floor(whole % 86400 / 3600))}h`;
    }

    // As on a stop watch: exact also after a day.
    function elapsed(seconds) {
      if (seconds < 60) return brief(seconds);
      const whole = Math.floor(seconds + 1e-9);
      const days = whole >= 86400 ? `${Math.floor(whole / 86400)}d ` : "";
      const hours = Math.floor(whole % 86400 / 3600);
      const minutes = Math.floor(whole % 3600 / 60);
      return days + (whole >= 3600 ? `${hours}:${two(minutes)}` : minutes) + `:${two(whole % 60)}`;
    }

    function clockTime(run, time) {
      const mark = run.clocks.findLast(([instant]) => instant <= time) ?? run.clocks[0];
      if (!mark) return "";
      const date = new Date((mark[1] + (time - mark[0])) * 1000);
      return isNaN(date) ? "" : date.toISOString().slice(11, 23);
    }

    // A label need not say again what its lane does.
    function short(name) {
      return name.replace(/^(application|scene)(?=[A-Z])/, "").replace(/^UI(Application|Application.Scene)(.*)Notification/, "$2")
        .replace(/^(Will|Did)/, word => word.toLowerCase());
    }

    const brush = document.createElement("canvas").getContext("2d");
    brush.font = "12px system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif";
    const widths = new Map();
    function widthOf(text) {
      if (!widths.has(text)) widths.set(text, brush.measureText(text).width);
      return widths.get(text);
    }

    // MARK: Time and place

    // Each line that is shown has a slot, so that what happens at one time is seen one after another; between two times
    // lies their distance, or its logarithm.
    const stretch = seconds => seconds > 0 ? 6 + 13 * Math.log10(1 + seconds * 1000) : 0;

    class Axis {
      constructor(run, width, zoom, isTrue) {
        this.times = run.times;
        this.isTrue = isTrue;
        // A run whose beginning is left out begins later.
        this.origin = run.times[0] ?? 0;
        const count = run.times.length;
        this.starts = new Float64Array(count + 1);
        this.ends = new Float64Array(count);
        for (let line = 0; line < count; line += 1) {
          this.ends[line] = isTrue ? run.times[line] - this.origin : this.starts[line] + (run.shown[line] === "1" ? SLOT : 0);
          const next = line + 1 < count ? run.times[line + 1] : run.times[line];
          this.starts[line + 1] = isTrue ? next - this.origin : this.ends[line] + stretch(next - run.times[line]);
        }
        const natural = this.starts[count] || 1;
        const fits = isTrue || natural <= width * 3 ? width : natural;
        this.width = fits * 2 ** zoom;
        this.factor = this.width / natural;
      }

      place(time, line) {
        const { times, starts, ends } = this;
        if (this.isTrue) return Math.max(time - this.origin, 0) * this.factor;
        const next = line + 1;
        if (time <= times[line] || next >= times.length) return starts[line] * this.factor;
        const part = stretch(time - times[line]) / stretch(times[next] - times[line]);
        return (ends[line] + (starts[next] - ends[line]) * Math.min(part, 1)) * this.factor;
      }

      // The time at a place: within a slot all is at one time.
      time(place) {
        const value = place / this.factor;
        if (this.isTrue) return this.origin + value;
        let [low, high] = [0, this.times.length - 1];
        while (low < high) {
          const middle = (low + high + 1) >> 1;
          if (this.starts[middle] <= value) low = middle; else high = middle - 1;
        }
        const [time, next] = [this.times[low], this.times[low + 1]];
        if (value <= this.ends[low] || next === undefined || next <= time) return time;
        const part = (value - this.ends[low]) / (this.starts[low + 1] - this.ends[low]) * stretch(next - time);
        return Math.min(time + (10 ** (Math.max(part - 6, 0) / 13) - 1) / 1000, next);
      }
    }
    """#

  /// The script that starts the page.
  private static let start = #"""
    // MARK: The page

    // Bars that overran or failed; a report about a bar of its own adds nothing.
    function alarms(chart) {
      const bars = chart.run.lanes.flatMap((lane, index) =>
        lane.items.flatMap((item, place) => / late$/.test(item[1]) ? [{ index, place, item }] : []));
      const known = new Set(bars.map(({ index, item }) => {
        const lane = chart.run.lanes[index];
        return lane.kind === "resources" ? lane.name : item[0];
      }));
      const reports = chart.run.lanes.flatMap((lane, index) => lane.items.flatMap((item, place) =>
        lane.kind === "marks" && /^(report|gap)$/.test(item[1]) && !known.has(item[0].replace(/^\w+:/, ""))
          ? [{ index, place, item }] : []));
      return [...bars, ...reports].sort((a, b) => a.item[2] - b.item[2]);
    }

    function open(run, isOpen) {
      const section = make("details", "run", document.querySelector("main"));
      section.dataset.session = run.session;
      const summary = make("summary", "", section);
      make("h2", "", summary, `#${run.session} ${run.title}`);
      make("span", "when", summary, [run.start, brief(run.times.at(-1) ?? 0)].filter(Boolean).join(" · "));
      if (run.omitted) make("span", "omitted", summary, `its first ${run.omitted} lines are left out`);
      if (run.ended) make("span", `ended ${run.isAlarming ? "alarm" : ""}`, summary, run.ended);
      let chart = null;
      const fill = () => {
        if (chart || !section.open) return;
        const facts = make("ul", "facts", section);
        facts.setAttribute("aria-label", "Time in each state");
        for (const [state, time] of run.shares) {
          const fact = make("li", "", facts);
          make("span", `swatch ${state}`, fact);
          fact.append(`${state} ${brief(time)}`);
        }
        const late = make("div", "overruns", section);
        chart = new Chart(run, section);
        const list = alarms(chart);
        if (list.length) make("strong", "", late, `${list.length} over budget or failed:`);
        else late.remove();
        for (const { index, place, item } of list.slice(0, 12)) {
          const [name, , begin, , end, , details] = item;
          const outcome = details.split("\n")[0].split(", ").slice(2).join(", ");
          const words = [outcome, end > begin ? brief(end - begin) : "", `at ${elapsed(begin)}`].filter(Boolean);
          const button = make("button", "", late, `${name}: ${words.join(", ")}`);
          button.type = "button";
          button.addEventListener("click", () => chart.focus(chart.lanes[index].items[place]));
        }
        if (list.length > 12) make("span", "", late, `and ${list.length - 12} more`);
        chart.draw();
        charts.push(chart);
      };
      section.addEventListener("toggle", fill);
      section.open = isOpen;
      fill();
    }

    const rescaleAll = () => charts.forEach(chart => chart.rescale());
    function zoomBy(step) {
      zoom.value = Number(zoom.value) + step;
      rescaleAll();
    }
    zoom.addEventListener("input", rescaleAll);
    scale.addEventListener("change", rescaleAll);
    document.getElementById("in").addEventListener("click", () => zoomBy(0.5));
    document.getElementById("out").addEventListener("click", () => zoomBy(-0.5));
    addEventListener("keydown", event => {
      if (event.altKey || event.ctrlKey || event.metaKey) return;
      if (event.key === "+" || event.key === "=") zoomBy(0.5);
      if (event.key === "-") zoomBy(-0.5);
      if (event.key === "0") zoomBy(-10);
    });
    let width = innerWidth;
    addEventListener("resize", () => {
      if (innerWidth !== width) rescaleAll();
      width = innerWidth;
    });
    // Paper has one width, and cannot scroll.
    addEventListener("beforeprint", () => charts.forEach(chart => {
      chart.room = 1000;
      chart.draw();
    }));
    addEventListener("afterprint", () => charts.forEach(chart => {
      chart.room = undefined;
      chart.draw();
    }));
    const used = new Set(runs.flatMap(run => run.lanes.flatMap(lane => lane.items.flatMap(item => item[1].split(" ")))));
    for (const item of document.querySelectorAll(".key li")) {
      item.hidden = !item.dataset.styles.split(" ").some(style => used.has(style));
    }
    runs.forEach((run, index) => open(run, runs.length <= 3 || index === runs.length - 1));
    """#
}
