import Foundation
import TestTraits
import Testing

/// The timeline as a browser shows it.
@Suite(.timeLimit(.hang)) struct TimelinePageTests {
  private let folder: URL
  private var journal: String { folder.appending(path: "trips.jsonl").path }

  init() throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "page-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  /// Makes the page of the journal; `script` runs after its own.
  private func makePage(_ script: String = "", options: [String] = []) throws -> URL {
    let page = folder.appending(path: "page.html")
    let made = try Tool.run(["timeline", journal, "-o", page.path] + options, environment: ["TZ": "UTC"])
    #expect(made.error == "")
    guard !script.isEmpty else { return page }
    // What goes wrong is written down before anything can.
    let watch = """
      <script>
      const troubles = [];
      addEventListener("error", event => troubles.push(event.message));
      addEventListener("securitypolicyviolation", event => troubles.push(event.violatedDirective));
      </script>
      """
    let html = try String(contentsOf: page, encoding: .utf8).replacingOccurrences(
      of: "<style>", with: watch + "<style>"
    )
    .replacingOccurrences(of: "</body>", with: "<output></output><script>\(script)</script></body>")
    try Data(html.utf8).write(to: page)
    return page
  }

  /// The items of a lane of a run, as the page has them.
  private func items(_ elements: [Element], _ lane: String, run: Int) -> [Element] {
    var (session, name) = ("", "")
    return elements.filter { element in
      if let next = element["data-session"] { session = next }
      if let next = element["data-lane"] { name = next }
      return session == "\(run)" && name == lane && element.classes.first == "item"
    }
  }

  @Test @MainActor func `has a lane for the state, the scenes and resources, and a bar for each with its time`()
    async throws
  {
    defer { try? FileManager.default.removeItem(at: folder) }
    guard let browser = Browser() else { return }
    try await TripsJournal.write(to: journal)
    let visit = try await browser.visit(try makePage(), in: folder)
    let elements = visit.elements
    #expect(elements.first { $0.name == "h1" }?.text == "trips.jsonl")
    #expect(
      elements.filter { $0.name == "h2" }.map(\.text) == ["#1 trips, process 4711", "#2 trips, process 4712"])
    #expect(elements.filter { $0.classes.first == "ended" }.map(\.text) == ["terminated", "ended by the watchdog"])

    let lanes = elements.compactMap { $0["data-lane"] }
    let resources = ["location", "database", "feed"]
    #expect(
      lanes == ["state", "scene main", "scene map", "delegate and notifications", "handlers"] + resources
        + ["background tasks", "system", "state", "delegate and notifications", "handlers"] + resources
        + ["background tasks", "system"])
    func rows(_ lane: String, _ run: Int) -> [String] {
      items(elements, lane, run: run).map {
        "\($0["data-name"] ?? "") \($0["data-begin"] ?? "") \($0["data-length"] ?? "")"
      }
    }
    #expect(
      rows("state", 2) == ["inactive 0 0", "active 0 90", "inactive 90 0", "background 90 5", "notRunning 95 0"])
    #expect(rows("scene map", 1).first == "background 20.024 0" && rows("scene map", 1).count == 7)
    #expect(
      rows("feed", 2) == ["feed: acquire 0.18 0.42", "feed 0.6 94.4"] && rows("background tasks", 2) == ["upload 90 5"])
    #expect(rows("handlers", 2) == ["thumbnails 90 5", "save draft 90 0.3"])
    #expect(rows("system", 2) == ["passcode:on 0 0", "launch 0 0", "lock 90 0", "watchdog:thumbnails 95 0"])

    let late = try #require(items(elements, "handlers", run: 2).first)
    #expect(late.classes == ["item", "handler", "late"])
    let words = try #require(late["aria-label"])
    #expect(words.hasPrefix("thumbnails, at 1:30 (19:01:30.000), for 5s, subscriber, applicationDidEnterBackground, "))
    #expect(words.contains("overran its time") && words.contains("TripsJournal.swift:"))
    #expect(elements.filter { $0.name == "button" }.map(\.text).contains("thumbnails: overran its time, 5s, at 1:30"))

    for run in [1, 2] {
      let all = Set(lanes).flatMap { items(elements, $0, run: run) }
      #expect(all.allSatisfy { $0["role"] == "listitem" && $0["aria-label"]?.isEmpty == false })
      #expect(all.filter { $0["tabindex"] == "0" }.count == 1, "the keyboard enters each chart at one place")
      // Bars of one lane of states never cover each other.
      for lane in ["state", "scene main", "database", "feed"] {
        let places = items(elements, lane, run: run).map { (pixels($0, "left"), pixels($0, "width")) }
        #expect(places.allSatisfy { $0.0 > 0 && $0.1 > 0 })
        #expect(zip(places, places.dropFirst()).allSatisfy { $0.0 + $0.1 <= $1.0 + 3 }, "\(lane) \(places)")
      }
    }
  }

  private func pixels(_ element: Element, _ property: String) -> Double {
    let rules = (element["style"] ?? "").split(separator: ";").map { $0.split(separator: ":") }
    let value = rules.first { $0.first?.trimmingCharacters(in: .whitespaces) == property }?.last
    return value.flatMap { Double($0.trimmingCharacters(in: .whitespaces).dropLast(2)) } ?? -1
  }

  @Test @MainActor func `asks nothing of the network`() async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    guard let browser = Browser() else { return }
    try await TripsJournal.write(to: journal)
    #expect(try await browser.visit(try makePage(), in: folder).requests == [])
    // A page that does is caught.
    let other = folder.appending(path: "other.html")
    try Data("<!DOCTYPE html><title>a</title><img src=\"http://page.invalid/a.png\">".utf8).write(to: other)
    #expect(try await browser.visit(other, in: folder).requests == ["http://page.invalid/a.png"])
    // And ours could not, if it wanted to.
    let ours = try makePage("const image = new Image(); image.src = 'http://page.invalid/b.png'")
    #expect(try await browser.visit(ours, in: folder).requests == [])
  }

  @Test(arguments: [500, 1_280]) @MainActor
  func `is walked by keyboard, zoomed and drawn to scale, without an error or a page wider than its window`(width: Int)
    async throws
  {
    defer { try? FileManager.default.removeItem(at: folder) }
    guard let browser = Browser() else { return }
    try await TripsJournal.write(to: journal)
    let visit = try await browser.visit(
      try makePage(
        """
        // A headless window may have got its width after the page was drawn.
        rescaleAll();
        const said = [], tell = what => said.push(String(what));
        const shown = () => tip.hidden ? "nothing" : tip.firstChild.textContent;
        const press = key => document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
        const fits = () => document.documentElement.scrollWidth <= innerWidth;
        document.querySelector("[tabindex='0'].item").focus();
        for (const key of ["End", "ArrowLeft", "Home", "ArrowRight", "ArrowDown", "ArrowUp", "Escape"]) {
          press(key);
          tell(`${key}: ${shown()}`);
        }
        document.querySelectorAll(".overruns button")[0].click();
        tell(`late: ${shown()}`);
        tell(fits());
        const span = () => document.querySelector(".plot").offsetWidth - (innerWidth > 640 ? 162 : 20);
        const before = span();
        for (const key of ["+", "+"]) press(key);
        tell(`${zoom.value}, ${(span() / before).toFixed(1)}`);
        tell(document.activeElement.dataset.name);
        press("0");
        scale.click();
        const suspended = document.querySelector(".item.suspended");
        tell(suspended.offsetWidth / document.querySelector(".plot").offsetWidth > 0.7);
        tell(fits());
        document.querySelector("output").textContent = JSON.stringify([said, troubles, innerWidth]);
        """), width: width, in: folder)
    let output = try #require(visit.elements.first { $0.name == "output" }?.text)
    let result = try #require(try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [Any])
    let said = try #require(result[0] as? [String])
    #expect(
      said.prefix(8) == [
        "End: notRunning", "ArrowLeft: background", "Home: background", "ArrowRight: inactive",
        "ArrowDown: foregroundActive", "ArrowUp: active", "Escape: nothing", "late: thumbnails",
      ])
    #expect(said.dropFirst(8) == ["true", "1, 2.0", "thumbnails", "true", "true"])
    #expect((result[1] as? [String]) == [] && result[2] as? Int == width)
  }

  @Test @MainActor func `begins with the first line that is left of a run, and says that others are missing`()
    async throws
  {
    defer { try? FileManager.default.removeItem(at: folder) }
    guard let browser = Browser() else { return }
    try await TripsJournal.write(to: journal)
    let script = """
      const said = [document.querySelector(".tick").textContent, axisOf(0).time(0)];
      scale.click();
      said.push(axisOf(0).time(0), document.querySelector(".tick").textContent, axisOf(0).place(runs[0].times[0], 0));
      const items = [...document.querySelectorAll(".run .item")].map(item => parseFloat(item.style.left));
      said.push(items.every(left => left >= 0));
      function axisOf(index) { return charts[index].axis; }
      document.querySelector("output").textContent = JSON.stringify([said, troubles]);
      """
    let visit = try await browser.visit(try makePage(script, options: ["--since", "2026-11-21T17:20"]), in: folder)
    let output = try #require(visit.elements.first { $0.name == "output" }?.text)
    let result = try #require(try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [Any])
    let said = try #require(result[0] as? [Any])
    #expect((result[1] as? [String]) == [])
    // The program came back half an hour after it went home.
    let first = try #require(said[1] as? Double)
    #expect((1_875..<1_876).contains(first) && said[2] as? Double == first && said[0] as? String == "31:15", "\(said)")
    #expect(said[4] as? Double == 0 && said[5] as? Bool == true && said[3] as? String != "0s")
    let note = visit.elements.filter { $0.classes.first == "omitted" }.map(\.text)
    #expect(note.count == 1 && note[0].hasPrefix("its first ") && note[0].hasSuffix(" lines are left out"))
  }

  @Test @MainActor func `shows what a journal holds as text, whatever it is`() async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    guard let browser = Browser() else { return }
    let name = #"\u0d4e</script>\u0d4e<b onclick=\"x\">&amp;\u001b\u2028'"#
    try Data(
      #"{"t":0.0,"kind":"report","name":"\#(name)","state":"active","scene":"\#(name)","cause":"\#(name)"}\#n"#.utf8
    ).write(to: URL(filePath: journal))
    let page = try makePage("document.querySelector('output').textContent = JSON.stringify(troubles)")
    let visit = try await browser.visit(page, in: folder)
    #expect(visit.elements.first { $0.name == "output" }?.text == "[]" && visit.requests == [])
    let shown = items(visit.elements, "system", run: 1).compactMap { $0["data-name"] }
    #expect(shown == [#"\#u{D4E}</script>\#u{D4E}<b onclick="x">&amp;\u{1B}\u{2028}'"#])
    #expect(!visit.elements.contains { $0.name == "b" })
  }

  /// A run in which everything that has a label in a colour of its own is late, or has failed.
  private func writeLateJournal() throws {
    let header = #"{"journal":"run","version":1,"run":"r","part":0,"program":"trips","pid":7,"boot":null,"start":0.0,"#
    func record(_ time: Int, _ kind: String, _ name: String, _ state: String) -> String {
      #"{"t":\#(time).0,"kind":"\#(kind)","name":"\#(name)","state":"\#(state)","scene":null,"cause":"test"}"#
    }
    func entry(_ began: Int, _ time: Int, _ kind: String, _ name: String, _ step: String, _ outcome: String) -> String {
      #"{"journal":"entry","t":\#(time).0,"began":\#(began).0,"kind":"\#(kind)","name":"\#(name)","source":null,"#
        + #""step":"\#(step)","outcome":"\#(outcome)"}"#
    }
    let lines = [
      header + #""t":0.0,"wall":0.0,"state":"notRunning"}"#, record(0, "input", "launch", "notRunning"),
      record(0, "state", "inactive", "inactive"), record(2, "state", "active", "active"),
      entry(0, 4, "resource", "database", "acquire", "overran"),
      entry(4, 9, "resource", "feed", "acquire", "completed"), record(20, "state", "background", "background"),
      entry(20, 25, "subscriber", "save draft", "applicationDidEnterBackground", "overran"),
      entry(20, 25, "resource", "feed", "release", "overran"),
      entry(20, 22, "resource", "database", "release", "completed"),
      entry(20, 25, "task", "upload", "task", "neverEnded"),
      record(25, "report", "watchdog:feed", "background"), record(25, "ignored", "home", "background"),
      record(25, "state", "suspended", "suspended"), record(60, "state", "notRunning", "notRunning"),
    ]
    try Data(lines.map { $0 + "\n" }.joined().utf8).write(to: URL(filePath: journal))
  }

  /// The contrast of a text with what is behind it, as the guidelines for accessible pages define it: 4.5 at least.
  private static let contrasts = """
    const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
    function pixel(color) {
      canvas.clearRect(0, 0, 1, 1);
      canvas.fillStyle = color;
      canvas.fillRect(0, 0, 1, 1);
      return [...canvas.getImageData(0, 0, 1, 1).data];
    }
    const linear = value => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    const light = ([r, g, b]) => 0.2126 * linear(r / 255) + 0.7152 * linear(g / 255) + 0.0722 * linear(b / 255);
    function ratio(text, ground) {
      const [a, b] = [light(text), light(ground)].sort((a, b) => b - a);
      return (a + 0.05) / (b + 0.05);
    }
    // The colours behind a text: one, or those of stripes.
    function grounds(element) {
      for (let part = element; part; part = part.parentElement) {
        const style = getComputedStyle(part);
        const stripes = style.backgroundImage.match(/(rgba?|color)\\([^()]*\\)/g);
        if (stripes) return stripes.map(pixel);
        const ground = pixel(style.backgroundColor);
        if (ground[3] === 255) return [ground];
        // What a label beside its bar has behind it is the lane's.
        if (part.matches(".label:not(.inside)")) part = part.parentElement;
      }
      return [];
    }
    const said = [];
    for (const element of document.querySelectorAll(".label, .label small, .ended, .overruns strong, .overruns button")) {
      const style = getComputedStyle(element);
      const ink = pixel(style.color);
      for (const ground of grounds(element)) {
        const seen = ink.map((value, index) => ground[index] + (value - ground[index]) * Number(style.opacity));
        said.push([element.closest(".item")?.className ?? element.className, element.textContent, ratio(seen, ground)]);
      }
    }
    const isDark = matchMedia("(prefers-color-scheme: dark)").matches;
    document.querySelector("output").textContent = JSON.stringify([isDark, troubles, said]);
    """

  @Test(arguments: [false, true]) @MainActor
  func `every label can be read before what is behind it, in light and in dark`(isDark: Bool) async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    guard let browser = Browser() else { return }
    try writeLateJournal()
    let visit = try await browser.visit(try makePage(Self.contrasts), isDark: isDark, in: folder)
    let output = try #require(visit.elements.first { $0.name == "output" }?.text)
    let result = try #require(try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [Any])
    #expect(result[0] as? Bool == isDark && (result[1] as? [String]) == [])
    let labels = try #require(result[2] as? [[Any]])
    for kind in ["item release late", "item acquire late", "item handler late", "item task late", "item suspended"] {
      #expect(labels.contains { $0[0] as? String == kind }, "\(kind) has no label")
    }
    for label in labels { #expect(label[2] as? Double ?? 0 >= 4.5, "\(label)") }
  }

  @Test @MainActor func `the list of what was late leaves out the reports about bars of the list, and no other`()
    async throws
  {
    defer { try? FileManager.default.removeItem(at: folder) }
    guard let browser = Browser() else { return }
    func entry(_ name: String, _ kind: String) -> String {
      #"{"journal":"entry","t":5.0,"began":0.0,"kind":"\#(kind)","name":"\#(name)","source":null,"#
        + #""step":"release","outcome":"overran"}"#
    }
    func report(_ name: String) -> String {
      #"{"t":5.0,"kind":"report","name":"\#(name)","state":"background","scene":null,"cause":"test"}"#
    }
    let lines = [
      entry("i", "resource"), entry("a: b", "subscriber"), report("watchdog:i"), report("watchdog:a: b"),
      report("watchdog:applicationWillTerminate"),
      #"{"journal":"gap","t":6.0,"since":5.0,"lost":12,"error":"No space left"}"#,
    ]
    try Data(lines.map { $0 + "\n" }.joined().utf8).write(to: URL(filePath: journal))
    let page = folder.appending(path: "page.html")
    #expect(try Tool.run("timeline", journal, "-o", page.path).status == 1)
    let buttons = try await browser.visit(page, in: folder).elements.filter { $0.name == "button" }.map(\.text)
    #expect(buttons.contains { $0.hasPrefix("watchdog:applicationWillTerminate") })
    #expect(buttons.contains { $0.hasPrefix("12 lines missing") })
    #expect(!buttons.contains { $0.hasPrefix("watchdog:i") || $0.hasPrefix("watchdog:a: b") })
  }

  /// `TIMELINE_PICTURES=Docs/Pictures swift test --filter TimelinePageTests` makes those of the documentation, in full colour;
  /// there they have a palette, which is a third of the size.
  @Test(.enabled(if: ProcessInfo.processInfo.environment["TIMELINE_PICTURES"] != nil)) @MainActor
  func `has its picture taken`() async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    guard let browser = Browser() else { return }
    let pictures = URL(filePath: ProcessInfo.processInfo.environment["TIMELINE_PICTURES"] ?? ".")
    try await TripsJournal.write(to: journal)
    let page = try makePage()
    for (name, isDark) in [("light", false), ("dark", true)] {
      try await browser.picture(
        of: page, width: 1_240, height: 1_140, isDark: isDark, to: pictures.appending(path: "timeline-\(name).png"),
        in: folder)
    }
  }
}
