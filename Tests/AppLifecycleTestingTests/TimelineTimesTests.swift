import AppLifecycle
import Foundation
import LifecycleJournal
import TestFiles
import TestTraits
import Testing

@testable import lifecycle

/// The times that a timeline gives, and the time at which it learns how the last run ended.
@Suite(.timeLimit(.hang)) struct TimelineTimesTests: JournalToolSuite {
  let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  private func header(_ run: String, part: Int = 0, start: Int, at time: Int = 0) -> String {
    #"{"journal":"run","version":1,"run":"\#(run)","part":\#(part),"program":"trips","pid":7,"boot":null,"#
      + #""start":\#(start).0,"t":\#(time).0,"wall":\#(start + time).0,"state":"active"}"#
  }

  private func report(_ time: Int, _ name: String) -> String {
    #"{"t":\#(time).0,"kind":"report","name":"\#(name)","state":"active","scene":null,"cause":"test"}"#
  }

  private func write(_ lines: [String]) throws {
    try Data(lines.map { $0 + "\n" }.joined().utf8).write(to: URL(filePath: path))
  }

  @Test func `a run whose first files were dropped keeps its times since it began`() throws {
    let (start, days) = (1_795_280_400, 345_600)
    try write([
      header("r", part: 3, start: start, at: days), report(days + 5, "old"),
      header("s", start: start + days + 10), report(1, "new"),
    ])
    let runs = try runs(of: Tool.run("timeline", path, "--format", "html", "-o", "-").output)
    #expect(runs[0]["times"] as? [Double] == [345_600, 345_605] && runs[1]["times"] as? [Double] == [0, 1])
    let trace = try Tool.run("timeline", path, "--format", "json", "-o", "-").output
    let object = try #require(try JSONSerialization.jsonObject(with: Data(trace.utf8)) as? [String: Any])
    let events = try #require(object["traceEvents"] as? [[String: Any]])
    func time(_ name: String) -> Double? { events.first { $0["name"] as? String == name }?["ts"] as? Double }
    #expect(time("old") == 345_605_000_000 && time("new") == 345_611_000_000)
  }

  @Test func `the times of day are right after summer time has ended during a run`() async throws {
    guard let browser = Browser() else { return }
    // The run begins at 02:30 in summer time. Summer time ends half an hour later.
    try write([header("r", start: 1_792_888_200), report(60, "a"), report(3_600, "b"), report(7_200, "c")])
    let page = folder.appending(path: "page.html")
    let zone = ["TZ": "CET-1CEST,M3.5.0,M10.5.0/3"]
    #expect(try Tool.run(["timeline", path, "-o", page.path], environment: zone).status == 0)
    let items = try await browser.visit(page, in: folder).elements.filter { $0["data-name"]?.count == 1 }
    let times = ["02:31:00.000", "02:30:00.000", "03:30:00.000"]
    #expect(items.count == 3)
    for (item, time) in zip(items, times) {
      #expect(item["aria-label"]?.contains("(\(time))") == true, "\(item["aria-label"] ?? "")")
    }
    let log = try lines(Tool.run(["log", path], environment: zone).output)
    #expect(log.dropFirst().map { String($0.prefix(12)) } == times)
  }

  /// A picture that keeps the ends, and calls a closure at each line.
  private struct Ends: TimelinePicture {
    let atLine: () -> Void
    var exits: [PreviousExit.Kind] = []

    func begin(_ session: Int, _ header: RunHeader?, at begin: Duration, line: Int) {}
    func take(_ line: TimelineLine?, _ ended: [TimelineItem], clock: JournalClockMark?) { atLine() }
    mutating func end(_ ended: [TimelineItem], _ exit: PreviousExit) { exits.append(exit.kind) }
  }

  #if os(Linux)
    @Test func `a program that ends while its journal is read does not run any more`() throws {
      let journal = Journal(at: path)
      for (kind, name, state) in [
        (.state, "background", .background), (.delegate, "applicationWillTerminate", .background),
        (.state, "notRunning", .notRunning),
      ] as [(LifecycleRecord.Kind, String, ApplicationState)] {
        journal.append(LifecycleRecord(instant: .zero, kind: kind, name: name, state: state, cause: "test"))
      }
      #expect(KernelLocks.isHeld(path, files: SystemFiles()))
      let reading = TimelineReading(
        of: path, wanted: try Selection().resolved(in: path), scan: JournalScan(), into: Ends { journal.close() })
      try reading.run()
      #expect(reading.picture.exits == [.terminated])
    }
  #endif

  @Test func `a selection without a line says that there is nothing to show`() throws {
    try write([header("r", start: 1_795_280_400), report(1, "a")])
    let page = try Tool.run("timeline", path, "--since", "2027-01-01", "--format", "html", "-o", "-")
    #expect(page.status == 0 && page.output.contains("<p>There is nothing to show.</p>"))
  }
}
