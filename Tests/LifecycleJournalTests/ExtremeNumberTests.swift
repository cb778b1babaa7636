import AppLifecycle
import JournalWorkload
import LifecycleJournal
import TestFiles
import TestTraits
import Testing

/// No number in a file is fatal to a program that reads it, nor to the next program that writes it.
@Suite(.timeLimit(.hang)) struct ExtremeNumberTests {
  /// Everything that the public readers make of a journal.
  private func read(_ journal: String) {
    var run = RunSummary()
    for entry in JournalReader(source: MemorySource(Array(journal.utf8))) {
      switch entry.content {
      case .line(let line):
        run.take(line)
        // Written again as it was read.
        switch line {
        case .run(let header): _ = header.jsonLine
        case .record(let record): _ = record.description + record.jsonLine
        case .entry(let entry): _ = entry.description + entry.jsonLine + entry.ended.decimalSeconds
        case .gap(let gap): _ = gap.jsonLine
        case .clock(let mark): _ = mark.jsonLine
        case .crash(let crash): _ = crash.jsonLine
        case .stopped(let stop): _ = stop.jsonLine
        case .alive(let instant): _ = instant.decimalSeconds
        case .unknown: break
        }
      case .damaged(let damage):
        _ = damage.description
        run.take(damage)
      }
      _ = run.length.decimalSeconds + run.wallTime(at: run.lastInstant).decimalSeconds
      _ = run.times.values.map(\.decimalSeconds)
    }
    _ = PreviousExit(of: run, bootID: "boot-2").description
  }

  @Test(.longRunning) func `whatever a number of a journal is, readers and the next run go on`() throws {
    let directory = try TemporaryDirectory()
    for (number, journal) in ExtremeJournals.all.enumerated() {
      read(journal)
      let path = directory.file()
      try write(journal, to: path)
      let next = Journal(
        at: path, configuration: .init(), bus: nil, instant: .zero, files: SystemFiles(), facts: .made(bootID: "boot-2")
      )
      #expect(next.failure == nil && next.append(numbered(1)), "journal \(number)")
      _ = next.previousExit.description
      next.close()
    }
    #expect(ExtremeJournals.all.count > 800)
  }

  @Test func `missing lines are counted up to the largest number`() {
    let gap = JournalGap(since: .zero, instant: .zero, lost: .max, error: "full")
    var run = RunSummary()
    run.take(.gap(gap))
    run.take(.gap(gap))
    #expect(run.lost == .max)
  }

  @Test(arguments: [
    (#"{"journal":"gap","t":1.0,"since":0.0,"lost":18446744073709551615,"error":"e"}"#, "lost", 45),
    (#"{"journal":"alive","t":1e12}"#, "t", 24),
    (#"{"journal":"alive","t":-1000000000000.0}"#, "t", 24),
    (#"{"journal":"alive","t":1e400}"#, "t", 24),
    (#"{"journal":"clock","t":1.0,"wall":98765432109876543210}"#, "wall", 35),
  ])
  func `a number that is out of range is refused with its line and column`(line: String, field: String, column: Int) {
    let entries = Array(JournalReader(source: MemorySource(Array((numbered(1).jsonLine + "\n" + line + "\n").utf8))))
    #expect(entries.damage == [.outOfRange(field: field, column: column)] && entries.last?.number == 2)
    #expect(entries.damage.first?.description == "the number of \"\(field)\" is out of range, in column \(column)")
  }

  @Test(arguments: [("1e3", 1_000), ("-0", 0), ("3.0", 3), ("0e99", 0)] as [(String, Int)])
  func `a count may have any form that JSON has for a whole number`(text: String, count: Int) {
    let line = #"{"journal":"gap","t":1.0,"since":0.0,"lost":\#(text),"error":"e"}"#
    #expect(Array(JournalReader(source: MemorySource(Array((line + "\n").utf8)))).gaps.map(\.lost) == [count])
  }
}
