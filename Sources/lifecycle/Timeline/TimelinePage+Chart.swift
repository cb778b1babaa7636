extension TimelinePage {
  /// The script that draws one run and moves through it.
  static let chart = #"""
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
        // The keyboard focus stays on its bar.
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
          const first = Math.ceil(axis.origin / step - 1e-9) * step;
          for (let time = first; time <= end + 1e-9 && step > 0; time += step) tick(axis.place(time, 0), time);
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
    """#
}
