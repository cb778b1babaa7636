extension TimelinePage {
  /// What draws the page from its data: lanes of items, each of which a pointer and the keyboard can reach.
  static let script = #"""
    "use strict";
    const runs = JSON.parse(document.getElementById("data").textContent);
    const [zoom, scale, tip] = ["zoom", "scale", "tip"].map(id => document.getElementById(id));
    const SLOT = 13, ROW = 18, MOST_ROWS = 16, MOST_PAINTED = 3000, TAIL = 10;
    const charts = [];

    function make(tag, className, parent, text) {
      const element = document.createElement(tag);
      if (className) element.className = className;
      if (text !== undefined) element.textContent = text;
      if (parent) parent.append(element);
      return element;
    }

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
      const date = new Date((mark[1] + (time - mark[0]) + run.zone) * 1000);
      return isNaN(date) ? "" : date.toISOString().slice(11, 23);
    }

    // A label need not say again what its lane does.
    function short(name) {
      return name.replace(/^(application|scene)(?=[A-Z])/, "").replace(/^UI(Application|Scene)(.*)Notification/, "$2")
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
        const count = run.times.length;
        this.starts = new Float64Array(count + 1);
        this.ends = new Float64Array(count);
        for (let line = 0; line < count; line += 1) {
          this.ends[line] = isTrue ? run.times[line] : this.starts[line] + (run.shown[line] === "1" ? SLOT : 0);
          const next = line + 1 < count ? run.times[line + 1] : run.times[line];
          this.starts[line + 1] = isTrue ? next : this.ends[line] + stretch(next - run.times[line]);
        }
        const natural = this.starts[count] || 1;
        const fits = isTrue || natural <= width * 3 ? width : natural;
        this.width = fits * 2 ** zoom;
        this.factor = this.width / natural;
      }

      place(time, line) {
        const { times, starts, ends } = this;
        if (this.isTrue) return Math.max(time, 0) * this.factor;
        const next = line + 1;
        if (time <= times[line] || next >= times.length) return starts[line] * this.factor;
        const part = stretch(time - times[line]) / stretch(times[next] - times[line]);
        return (ends[line] + (starts[next] - ends[line]) * Math.min(part, 1)) * this.factor;
      }

      // The time at a place: within a slot all is at one time.
      time(place) {
        const value = place / this.factor;
        if (this.isTrue) return value;
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

    // MARK: A run

    class Chart {
      constructor(run, section) {
        this.run = run;
        this.section = section;
        this.element = make("div", "chart", section);
        this.element.setAttribute("role", "group");
        this.element.setAttribute("aria-label", `Timeline of run ${run.session}. The arrow keys go from bar to bar.`);
        this.element.addEventListener("scroll", () => this.isLong && requestAnimationFrame(() => this.paint()));
        this.element.addEventListener("mousemove", event => this.point(event));
        this.element.addEventListener("mouseleave", () => this.cursor?.remove());
        this.element.addEventListener("keydown", event => this.walk(event));
        this.current = null;
      }

      draw() {
        const { run, element } = this;
        const isNarrow = matchMedia("(max-width: 40rem)").matches;
        this.left = isNarrow ? 10 : 152;
        const room = Math.max((this.room ?? element.clientWidth) - this.left - TAIL, 240);
        const axis = this.axis = new Axis(run, room, Number(zoom.value), scale.checked);
        // Who has walked to a bar stays there.
        const hasFocus = element.contains(document.activeElement);
        const lane = this.lanes?.findIndex(({ items }) => items.includes(this.current)) ?? -1;
        const index = lane < 0 ? -1 : this.lanes[lane].items.indexOf(this.current);
        this.current = null;
        this.isLong = run.lanes.reduce((sum, lane) => sum + lane.items.length, 0) > MOST_PAINTED;
        element.replaceChildren();
        const plot = this.plot = make("div", "plot", element);
        plot.style.width = `${this.left + axis.width + TAIL}px`;
        this.drawAxis();
        this.lanes = run.lanes.map(lane => this.layOut(lane, isNarrow));
        this.current = this.lanes[lane]?.items[index] ?? this.lanes[0]?.items[0] ?? null;
        this.paint();
        if (hasFocus && this.current) {
          if (!this.current.element) this.put(this.current);
          this.current.element.focus({ preventScroll: true });
        }
      }

      drawAxis() {
        const { run, axis, left, plot } = this;
        const bar = make("div", "axis", plot);
        bar.setAttribute("aria-hidden", "true");
        make("div", "name", bar, "time");
        const guide = (className, x, width) => {
          const line = make("div", className, plot);
          line.style.left = `${left + x}px`;
          if (width !== undefined) line.style.width = `${width}px`;
        };
        for (const [name, , t1, l1, t2, l2] of run.lanes.find(lane => lane.kind === "states")?.items ?? []) {
          if (name !== "suspended") continue;
          const x = axis.place(t1, l1);
          guide("shade", x, axis.place(t2, l2) - x);
        }
        let free = -Infinity, last = "", since = 0;
        const tick = (x, time) => {
          let text = elapsed(time);
          const isSame = text === last;
          if (isSame) text = `+${brief(time - since)}`;
          if (x < free) return;
          make("span", isSame ? "tick more" : "tick", bar, text).style.left = `${left + x}px`;
          guide("guide", x);
          free = x + widthOf(text) + 14;
          if (!isSame) [last, since] = [text, time];
        };
        if (axis.isTrue) {
          const end = run.times.at(-1);
          const least = 80 / axis.factor;
          const steps = [.001, .002, .005, .01, .02, .05, .1, .2, .5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800,
            3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800, 2592000];
          const step = steps.find(step => step >= least) ?? Math.ceil(least / 2592000) * 2592000;
          for (let time = 0; time <= end + 1e-9 && step > 0; time += step) tick(time * axis.factor, time);
          return;
        }
        // A tick where something happens after a while in which nothing did, and between two of them how long that was.
        run.times.forEach((time, line) => {
          const pause = line > 0 ? time - run.times[line - 1] : 0;
          if (line > 0 && pause < 0.001) return;
          const x = axis.starts[line] * axis.factor;
          tick(x, time);
          if (pause < 0.1) return;
          const from = axis.ends[line - 1] * axis.factor;
          const text = brief(pause);
          if (x - from > widthOf(text) + 6) make("span", "span", bar, text).style.left = `${left + (from + x) / 2}px`;
        });
      }

      layOut(lane, isNarrow) {
        const { axis, left, plot } = this;
        const element = make("div", `lane ${lane.kind}`, plot);
        element.dataset.lane = lane.name;
        element.setAttribute("role", "list");
        element.setAttribute("aria-label", lane.name);
        make("div", "name", element, lane.name).setAttribute("aria-hidden", "true");
        const isPacked = ["calls", "flags", "marks"].includes(lane.kind);
        const head = isNarrow ? 19 : 3;
        const rows = [];
        let before = null, hasMore = false;
        const items = lane.items.map(([name, style, t1, l1, t2, l2, details]) => {
          const x = left + axis.place(t1, l1);
          // What took no time fills the slot of its line.
          const end = t2 > t1 || l2 > l1 ? left + axis.place(t2, l2) : axis.isTrue ? x : left + axis.ends[l1] * axis.factor;
          const width = lane.kind === "marks" ? 9 : Math.max(end - x - 1, 3);
          const item = { name, style, t1, t2, details, x, width, lane: element, top: head, label: null };
          const length = t2 > t1 && lane.kind !== "calls" ? ` ${brief(t2 - t1)}` : "";
          // The lane says already which resource it is.
          const text = lane.kind === "resources" ? style.split(" ")[0] : short(name);
          const room = widthOf(text + length) + 10;
          if (!isPacked) {
            const isWide = width > room;
            if (isWide || width > widthOf(text) + 10) item.label = [text, isWide ? length : "", "inside"];
          } else if (lane.kind === "calls" && before?.style === "call" && style.startsWith("handlers") && x - before.end < 4) {
            // The notification after a call stands beside it, and its label behind both.
            item.top = before.top;
            if (before.label && before.label[2] !== "before") {
              item.label = before.label;
              before.label = null;
            }
          } else {
            const isLast = x + width + room > left + axis.width + TAIL;
            const [from, to] = isLast ? [x - room, x + width] : [x, x + width + room + (lane.kind === "calls" ? 14 : 0)];
            let row = rows.findIndex(free => free <= from);
            if (row < 0) row = rows.length < MOST_ROWS ? rows.length : -1;
            if (row >= 0) {
              rows[row] = to + 2;
              item.label = [text, length, isLast ? "before" : ""];
            }
            // Where there are too many to be told apart, a last row has those without a label.
            hasMore ||= row < 0;
            item.top = head + (row < 0 ? MOST_ROWS : row) * ROW;
          }
          item.end = x + width;
          before = item;
          return item;
        });
        const height = lane.kind === "states" ? 22 : isPacked ? Math.max(rows.length + hasMore, 1) * ROW - 3 : 16;
        element.style.height = `${head + height + 4}px`;
        return { element, items };
      }

      // Those within a screen's width of what is seen, or all if they are not many.
      paint() {
        const width = this.element.clientWidth;
        const [from, to] = [this.element.scrollLeft - width, this.element.scrollLeft + 2 * width];
        for (const { items } of this.lanes) {
          for (const item of items) {
            const isSeen = !this.isLong || item.x + item.width + 300 > from && item.x - 300 < to;
            if (isSeen && !item.element) this.put(item);
            else if (!isSeen && item.element && item !== this.current) {
              item.element.remove();
              item.element = null;
            }
          }
        }
        if (this.current?.element) this.current.element.tabIndex = 0;
      }

      put(item) {
        const element = item.element = make("div", `item ${item.style}`, item.lane);
        Object.assign(element.style, { left: `${item.x}px`, top: `${item.top}px`, width: `${item.width}px` });
        Object.assign(element.dataset, { name: item.name, begin: item.t1, length: +(item.t2 - item.t1).toFixed(9) });
        element.tabIndex = -1;
        element.setAttribute("role", "listitem");
        element.setAttribute("aria-label", [item.name, ...this.words(item)].join(", "));
        if (item.label) {
          const [text, length, place] = item.label;
          const label = make("span", `label ${place}`, element, text);
          if (length) make("small", "", label, length);
        }
        element.addEventListener("mouseenter", () => this.show(item));
        element.addEventListener("mouseleave", () => tip.hidden = true);
        element.addEventListener("blur", () => tip.hidden = true);
        element.addEventListener("focus", () => {
          if (this.current?.element) this.current.element.tabIndex = -1;
          this.current = item;
          element.tabIndex = 0;
          this.show(item);
        });
      }

      words(item) {
        const clock = clockTime(this.run, item.t1);
        const when = `at ${elapsed(item.t1)}${clock ? ` (${clock})` : ""}`;
        const length = item.t2 > item.t1 ? `for ${brief(item.t2 - item.t1)}` : null;
        return [when, length, ...item.details.split("\n")].filter(Boolean);
      }

      show(item) {
        tip.replaceChildren();
        make("b", "", tip, item.name);
        tip.append(this.words(item).join("\n"));
        tip.hidden = false;
        const box = item.element.getBoundingClientRect();
        const x = Math.min(Math.max(box.left, 8), innerWidth - tip.offsetWidth - 8);
        const y = box.bottom + 8 + tip.offsetHeight > innerHeight ? box.top - tip.offsetHeight - 8 : box.bottom + 8;
        Object.assign(tip.style, { left: `${x}px`, top: `${Math.max(y, 4)}px` });
      }

      focus(item) {
        const { element } = this;
        if (item.x - this.left < element.scrollLeft || item.x + 40 > element.scrollLeft + element.clientWidth) {
          element.scrollLeft = item.x - element.clientWidth / 2;
        }
        if (!item.element) this.put(item);
        item.element.focus();
      }

      // Left and right go along a lane, up and down to what is nearest in the next.
      walk(event) {
        if (event.key === "Escape") return void (tip.hidden = true);
        const lane = this.lanes.findIndex(({ items }) => items.includes(this.current));
        if (lane < 0 || event.altKey || event.ctrlKey || event.metaKey) return;
        const { items } = this.lanes[lane];
        const index = items.indexOf(this.current);
        const nearest = lane => lane?.items.reduce((best, item) =>
          Math.abs(item.x - this.current.x) < Math.abs(best.x - this.current.x) ? item : best);
        const next = {
          ArrowLeft: () => items[index - 1], ArrowRight: () => items[index + 1], Home: () => items[0],
          End: () => items.at(-1), ArrowUp: () => nearest(this.lanes[lane - 1]), ArrowDown: () => nearest(this.lanes[lane + 1]),
        }[event.key];
        if (!next) return;
        event.preventDefault();
        const item = next();
        if (item) this.focus(item);
      }

      // The time under the pointer.
      point(event) {
        const x = event.clientX - this.plot.getBoundingClientRect().left;
        this.cursor?.remove();
        if (x < this.left || x > this.left + this.axis.width) return;
        this.cursor = make("div", "", this.plot);
        make("div", "cursor", this.cursor).style.left = `${x}px`;
        const time = this.axis.time(x - this.left);
        const clock = clockTime(this.run, time);
        make("div", "now", this.cursor, clock ? `${elapsed(time)} · ${clock}` : elapsed(time)).style.left = `${x}px`;
      }

      rescale() {
        const middle = this.element.scrollLeft + this.element.clientWidth / 2;
        const part = (middle - this.left) / this.axis.width;
        this.draw();
        this.element.scrollLeft = this.left + part * this.axis.width - this.element.clientWidth / 2;
      }
    }

    // MARK: The page

    // Who was late or has failed; a report of somebody whose own time is known says nothing new.
    function alarms(chart) {
      const bars = chart.run.lanes.flatMap((lane, index) =>
        lane.items.flatMap((item, place) => / late$/.test(item[1]) ? [{ index, place, item }] : []));
      const known = bars.map(({ item }) => item[0]);
      const reports = chart.run.lanes.flatMap((lane, index) => lane.items.flatMap((item, place) =>
        lane.kind === "marks" && /^(report|gap)$/.test(item[1]) && !known.some(name => item[0].includes(name.split(": ")[0]))
          ? [{ index, place, item }] : []));
      return [...bars, ...reports].sort((a, b) => a.item[2] - b.item[2]);
    }

    function open(run, isOpen) {
      const section = make("details", "run", document.querySelector("main"));
      section.dataset.session = run.session;
      const summary = make("summary", "", section);
      make("h2", "", summary, `#${run.session} ${run.title}`);
      make("span", "when", summary, [run.start, brief(run.times.at(-1) ?? 0)].filter(Boolean).join(" · "));
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
