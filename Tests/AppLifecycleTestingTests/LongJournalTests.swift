#if os(Linux)
  import Foundation
  import LifecycleJournal
  import TestTraits
  import Testing

  /// A journal much longer than any memory that the tool may use, with damage in it.
  ///
  /// Eight million bytes, or as many as it is told. A gigabyte, for which the tool should be optimised:
  ///
  ///     JOURNAL_BYTES=1000000000 swift test -c release -Xswiftc -enable-testing --filter LongJournalTests
  ///
  /// `SEED` repeats the damage.
  @Suite(.timeLimit(.minutes(60))) struct LongJournalTests {
    private let folder: URL
    private var path: String { folder.appending(path: "trips.jsonl").path }
    private var output: String { folder.appending(path: "output").path }

    init() throws {
      folder = FileManager.default.temporaryDirectory.appending(path: "long-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    private func makeJournal() async throws -> LongJournal {
      let environment = ProcessInfo.processInfo.environment
      let bytes = environment["JOURNAL_BYTES"].flatMap(Int.init) ?? 8_000_000
      let seed = environment["SEED"].flatMap(UInt64.init) ?? .random(in: 0...(.max))
      print("a journal of \(bytes) bytes: SEED=\(seed)")
      return try await LongJournal(to: path, bytes: bytes, seed: seed)
    }

    /// Runs the tool with so much memory for its data and no more, its output in a file; then `look`, a shell's command line.
    private func run(_ arguments: String, megabytes: Int, look: String) throws -> (Tool.Result, seconds: Duration) {
      let clock = ContinuousClock()
      let began = clock.now
      let result = try Tool.shell(
        "(ulimit -d \(megabytes * 1_024); exec \"$0\" \(arguments) > '\(output)'); echo $?; cd '\(folder.path)'; \(look)",
        input: "")
      let time = clock.now - began
      print("lifecycle \(arguments), within \(megabytes) MB of data: \(time)")
      return (result, time)
    }

    private func lines(_ text: String) -> [String] { text.split(separator: "\n").map(String.init) }

    @Test(.longRunning)
    func `is read in little memory by each command, to its end, with all that is damaged named`() async throws {
      defer { try? FileManager.default.removeItem(at: folder) }
      let journal = try await makeJournal()
      let more = "lifecycle: and \(journal.damagedLines - 20) more damaged lines"

      let log = try run("log '\(path)'", megabytes: 24, look: "grep -c '^#' output; grep -c '  call    ' output").0
      #expect(lines(log.output) == ["1", "\(journal.runs)", "\(journal.calls)"])
      let complaints = lines(log.error)
      #expect(complaints.count == min(journal.damagedLines, 20) + (journal.damagedLines > 20 ? 1 : 0))
      #expect(complaints.count < 21 || complaints.last == more)
      let kinds = ["not a JSON object", "not in the journal's format", "too long to be one of a journal"]
      for kind in kinds { #expect(complaints.contains { $0.contains(": \(kind)") || $0.contains(kind) }, "\(kind)") }

      let sessions = try run(
        "sessions --json '\(path)'", megabytes: 24,
        look: "wc -l < output; grep -c '\"damaged\":1,\"ended\":\"terminated\"' output"
      ).0
      #expect(lines(sessions.output) == ["1", "\(journal.runs)", "\(journal.runs)"])
      #expect(lines(sessions.error) == complaints)

      let trace = try run(
        "timeline '\(path)' -o '\(folder.path)/trace.json'", megabytes: 24,
        look: "grep -c process_name trace.json; grep -c '\"cat\":\"call\"' trace.json; tail -n 1 trace.json"
      ).0
      #expect(lines(trace.output) == ["1", "\(journal.runs)", "\(journal.calls)", "]}"])
      #expect(lines(trace.error) == complaints)
      if journal.lines < 200_000 {
        let data = try Data(contentsOf: folder.appending(path: "trace.json"))
        #expect(try JSONSerialization.jsonObject(with: data) is [String: Any])
      }
      try FileManager.default.removeItem(at: folder.appending(path: "trace.json"))

      let page = try run(
        "timeline --format html -o - '\(path)'", megabytes: 96, look: "grep -c '\"session\":' output"
      ).0
      #expect(lines(page.output) == ["1", "1"])
      let omission =
        "a page shows the latest 20000 lines of a journal: the \(journal.lines - 20_000) before them are left "
        + "out, \(journal.runs - 1) whole runs among them; --session, --since and --until choose others, and a trace "
        + "(-o trace.json) has all"
      #expect(lines(page.error) == complaints + ["lifecycle: \(omission)"])
      let html = try String(contentsOf: URL(filePath: output), encoding: .utf8)
      #expect(html.contains("<p id=\"omission\" role=\"note\">A\(omission.dropFirst()).</p>"))
      let run = try run(of: html)
      #expect(run["session"] as? Int == journal.runs && run["omitted"] as? Int == journal.linesOfLastRun - 20_000)
      #expect((run["times"] as? [Double])?.count == 20_000 && (run["shown"] as? String)?.count == 20_000)

      // A run, or a time, that is asked for is there as a whole, and nothing is left out of it.
      let one = try self.run("timeline --format html -o - --session 2 '\(path)'", megabytes: 96, look: "true").0
      #expect(one.output == "1\n")
      #expect(lines(one.error).count == 1 && !one.error.contains("left out"))

      let began = ContinuousClock().now
      let next = Journal(at: path)
      print("opened to be written in \(ContinuousClock().now - began)")
      #expect(next.previousExit.kind == .terminated && next.previousExit.run.header?.run == "run-\(journal.runs)")
      #expect(next.previousExit.run.damagedLines == 1 && next.failure == nil)
      next.close()
    }

    /// The only run on a page.
    private func run(of html: String) throws -> [String: Any] {
      let data = html.components(separatedBy: "id=\"data\">").last?.components(separatedBy: "</script>").first
      let runs = try JSONSerialization.jsonObject(with: Data((data ?? "").utf8)) as? [[String: Any]]
      #expect(runs?.count == 1)
      return try #require(runs?.first)
    }
  }
#endif
