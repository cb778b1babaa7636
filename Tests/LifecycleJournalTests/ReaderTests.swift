import AppLifecycle
import Foundation
import LifecycleJournal
import PubSub
import Scheduling
import TestTraits
import Testing

@Suite(.timeLimit(.hang)) struct ReaderTests {
  private static let header = RunHeader(
    run: "r", program: "trips", processID: 7, bootID: nil, start: .seconds(1), wallTime: .seconds(1))

  private func read(
    _ bytes: some Sequence<UInt8>, step: Int = .max, limit: Int = 1 << 20, ending: JournalReader.Ending = .isReported
  ) -> [JournalEntry] {
    Array(JournalReader(source: MemorySource(Array(bytes), step: step), ending: ending, lineLimit: limit))
  }

  /// What is wrong with a line.
  @Test(
    arguments: [
      ("", nil), (" \t\r", nil), ("{", .notJSON), ("{}", .notInFormat), ("[1]", .notJSON), ("\u{0}", .notJSON),
      (#"{"journal":"run"}"#, .notInFormat), (#"{"journal":7}"#, .notInFormat), (#"{"journal":null}"#, .notInFormat),
      (#"{"journal":"run","version":2,"anything":[]}"#, .newerVersion(2)),
      (#"{"journal":"run","version":-1}"#, .notInFormat),
      (#"{"journal":"gap","t":1,"since":0,"lost":-1,"error":""}"#, .notInFormat),
      (#"{"journal":"entry","t":1,"began":2,"kind":"task","name":"a","step":"s","outcome":"completed"}"#, .notInFormat),
      (
        #"{"journal":"entry","t":1,"began":0,"kind":"task","source":"a","step":"s","outcome":"completed"}"#,
        .notInFormat
      ),
      (#"{"journal":"entry","t":1,"began":0,"kind":"task","name":"a","step":"s","outcome":"lost"}"#, .notInFormat),
      (#"{"journal":"entry","t":1,"began":0,"kind":"task","name":"a","step":"s","outcome":"completed"}"#, nil),
      (#"{"t":0,"kind":"none","name":"a","state":"active","scene":null,"cause":"a"}"#, .notInFormat),
      (#"{"t":0,"kind":"input","name":"a","state":"asleep","scene":null,"cause":"a"}"#, .notInFormat),
      (#"{"t":"0","kind":"input","name":"a","state":"active","scene":null,"cause":"a"}"#, .notInFormat),
      (
        #"{"t":1e300,"kind":"input","name":"a","state":"active","scene":null,"cause":"a"}"#,
        .outOfRange(field: "t", column: 6)
      ),
      (
        #"{"t":99999999999999999999,"kind":"input","name":"a","state":"active","scene":null,"cause":"a"}"#,
        .outOfRange(field: "t", column: 6)
      ),
      (#"{"t":01,"kind":"input","name":"a","state":"active","scene":null,"cause":"a"}"#, .notJSON),
      (#"{"t":0,"kind":"input","name":"\ud800","state":"active","scene":null,"cause":"a"}"#, .notJSON),
      (#"{"t":0,"kind":"input","name":"a","state":"active","scene":7,"cause":"a"}"#, .notInFormat),
      (#"{"t":0,"kind":"input","name":"a","state":"active","scene":null,"cause":"a"}}"#, .notJSON),
      (#"{"a":[}"#, .notJSON), (#"{"a":"b\"#, .notJSON), (#"{"a":tru"#, .notJSON), (#"{"a":-"#, .notJSON),
      (String(repeating: "[", count: 500_000), .notJSON),
      (#"{"a":"# + String(repeating: "[", count: 500_000), .notJSON),
    ] as [(String, JournalDamage?)])
  func `a damaged line is reported with its place and passed over`(line: String, damage: JournalDamage?) {
    let first = Self.header.jsonLine + "\n"
    let entries = read((first + line + "\r\n" + numbered(1).jsonLine + "\n").utf8)
    #expect(entries.damage == (damage.map { [$0] } ?? []))
    #expect(entries.records == [numbered(1)] && entries.headers == [Self.header])
    if damage != nil { #expect(entries[1].number == 2 && entries[1].offset == Int64(first.utf8.count)) }
    #expect(entries.last?.number == 3)
  }

  @Test func `what a later version adds is passed over`() {
    let line =
      #" { "t" : 1.5e0 , "new":{"a":[1,{"b":"]"}],"c":-1e-7},"kind":"ignored","name":"\u0061\ud83d\ude00","state":"active","cause":"\/\b","more":true,"reason":null } "#
    let expected = LifecycleRecord(
      instant: .milliseconds(1_500), kind: .ignored, name: "a😀", state: .active, cause: "/\u{8}")
    let entries = read((#"{"journal":"mood","value":7}"# + "\n" + line + "\n").utf8)
    #expect(entries.map(\.content) == [.line(.unknown("mood")), .line(.record(expected))])
  }

  @Test(arguments: [1, 2, 7, 64, 65_536])
  func `the size of the pieces that are read makes no difference`(step: Int) {
    var text = Self.header.jsonLine + "\n"
    for number in 0..<300 { text += (number.isMultiple(of: 7) ? "?" : numbered(number).jsonLine) + "\n" }
    #expect(read(text.utf8, step: step) == read(text.utf8))
    #expect(read(text.utf8).count == 301)
  }

  @Test func `a line that is too long costs no memory and is reported once`() {
    let long = String(repeating: "x", count: 200_000)
    let text = "\(numbered(1).jsonLine)\n\(long)\n\(numbered(2).jsonLine)\n\(long)"
    for step in [1_000, 65_536] {
      let entries = read(text.utf8, step: step, limit: 1_000)
      #expect(entries.records.map(\.name) == ["n1", "n2"] && entries.damage == [.tooLong, .tooLong])
      #expect(entries.map(\.number) == [1, 2, 3, 4])
      #expect(entries[2].offset == entries[1].offset + 200_001)
    }
    let exact = numbered(1).jsonLine
    #expect(read((exact + "\n").utf8, limit: exact.utf8.count).records.count == 1)
    #expect(read((exact + "\n").utf8, limit: exact.utf8.count - 1).damage == [.tooLong])
  }

  @Test func `a last line without an end is damage, or awaited`() {
    let text = numbered(1).jsonLine + "\n" + numbered(2).jsonLine
    #expect(read(text.utf8).damage == [.unfinished] && read(text.utf8).records.count == 1)
    #expect(read(text.utf8, ending: .isAwaited).count == 1)
    #expect(read((text + "\n  ").utf8).damage == [])
  }

  @Test func `a file that cannot be read on is reported, not repeated`() {
    struct Broken: ByteSource {
      var size: Int64? { nil }
      func read(into bytes: UnsafeMutableRawBufferPointer, at offset: Int64) throws(FileError) -> Int {
        throw FileError(number: EIO)
      }
    }
    let entries = Array(JournalReader(source: Broken()))
    #expect(entries.damage == [.unreadable(FileError(number: EIO))])
  }

  @Test(arguments: [
    "0.0", "0.5", "-0.5", "-3.25", "86400.0", "8000000.000000001", "1795281311.123456789", "0.000000000000000001",
  ])
  func `times are read to the attosecond`(seconds: String) throws {
    let line = #"{"t":\#(seconds),"kind":"input","name":"a","state":"active","scene":null,"cause":"a"}"#
    #expect(read((line + "\n").utf8).records.map(\.jsonLine) == [line])
  }

  // MARK: Any bytes

  /// Reads bytes in every way; what it says has to fit to what is there.
  private func check(_ bytes: [UInt8], _ note: String) {
    let entries = read(bytes)
    #expect(entries == read(bytes, step: 13), "\(note)")
    var position: Int64 = 0
    var number = 0
    for entry in entries {
      #expect(entry.offset >= position && entry.number > number, "\(note): \(entry)")
      #expect(entry.offset == 0 || bytes[Int(entry.offset) - 1] == 0x0A, "\(note): \(entry)")
      position = entry.offset + 1
      number = entry.number
      guard case .line(let line) = entry.content else { continue }
      // What is read is written and read again as it was.
      let text: String? =
        switch line {
        case .record(let record): record.jsonLine
        case .run(let header): header.jsonLine
        case .entry(let entry): entry.jsonLine
        case .gap(let gap): gap.jsonLine
        case .clock(let mark): mark.jsonLine
        case .crash(let crash): crash.jsonLine
        case .stopped(let stop): stop.jsonLine
        case .alive(let instant): "{\"journal\":\"alive\",\"t\":\(instant.decimalSeconds)}"
        case .unknown: nil
        }
      if let text { #expect(read((text + "\n").utf8).map(\.content) == [.line(line)], "\(note): \(text)") }
    }
    let lines = bytes.split(separator: 0x0A).count { $0.contains { $0 != 0x20 && $0 != 0x0D && $0 != 0x09 } }
    #expect(entries.count == lines, "\(note)")
    var run = RunSummary()
    for entry in entries {
      switch entry.content {
      case .line(let line): run.take(line)
      case .damaged(let damage): run.take(damage)
      }
    }
    _ = PreviousExit(of: run, bootID: "b").description
  }

  @Test func `a run that overran its time without end is summed up in memory that does not grow`() {
    var run = RunSummary()
    run.take(.record(LifecycleRecord(instant: .zero, kind: .state, name: "active", state: .active, cause: "launch")))
    for number in 0..<1_000 {
      run.take(
        .record(
          LifecycleRecord(
            instant: .seconds(number), kind: .report, name: "watchdog:\(number)", state: .active, cause: "home")))
    }
    #expect(run.records == 1_001 && run.overruns == (0..<100).map { "watchdog:\($0)" })
  }

  @Test func `any bytes are read`() throws {
    let seed = UInt64(ProcessInfo.processInfo.environment["SEED"] ?? "") ?? .random(in: 0...UInt64.max)
    print("any bytes are read: SEED=\(seed)")
    var random = SplitMix64(seed: seed)
    let whole: [String] = [
      Self.header.jsonLine, numbered(1).jsonLine,
      JournalGap(since: .zero, instant: .seconds(1), lost: 3, error: "\"\\\u{1}é").jsonLine,
      JournalClockMark(instant: .seconds(1), wallTime: .seconds(-5)).jsonLine,
      #"{"t":0,"kind":"ignored","name":"\ud83d\ude00\n","state":"background","scene":"main","cause":"c","reason":"r"}"#,
    ]
    let tokens: [[UInt8]] =
      [
        "{", "}", "[", "]", ",", ":", "\"", "\\", "\\u", "\\ud800", "\n", "\r\n", "null", "true", "-", "0", "1e9",
        "1e400",
        "9223372036854775807", "-9223372036854775808", ".", "\u{0}", "{\"journal\":\"run\",", "\"t\":", "\"version\":",
        "é",
      ].map { Array($0.utf8) } + [[0xFF], [0xC3], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80]]
    for round in 0..<2_000 {
      var bytes = Array((whole.shuffled(using: &random).joined(separator: "\n") + "\n").utf8)
      for _ in 0..<Int.random(in: 0...6, using: &random) {
        let place = Int.random(in: 0...bytes.count, using: &random)
        switch Int.random(in: 0..<4, using: &random) {
        case 0: if place < bytes.count { bytes[place] = UInt8.random(in: 0...255, using: &random) }
        case 1: bytes.insert(contentsOf: tokens.randomElement(using: &random) ?? [], at: place)
        case 2: bytes.removeSubrange(place..<min(bytes.count, place + Int.random(in: 0...30, using: &random)))
        default: bytes.removeLast(min(bytes.count, Int.random(in: 0...40, using: &random)))
        }
      }
      check(bytes, "SEED=\(seed) round \(round)")
    }
    for round in 0..<200 {
      let bytes = (0..<Int.random(in: 0...300, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
      check(bytes, "SEED=\(seed) noise \(round)")
    }
  }

  /// A file that another program writes, byte by byte, and cuts.
  private final class GrowingSource: ByteSource {
    var bytes: [UInt8] = []
    var size: Int64? { Int64(bytes.count) }

    func read(into target: UnsafeMutableRawBufferPointer, at offset: Int64) -> Int {
      MemorySource(bytes).read(into: target, at: offset)
    }
  }

  @Test func `an unfinished line that its writer takes back leaves nothing in the next line`() {
    let source = GrowingSource()
    let reader = JournalReader(source: source, ending: .isAwaited)
    let (first, second) = (numbered(1).jsonLine + "\n", numbered(2).jsonLine + "\n")
    source.bytes = Array((first + second.dropLast(20)).utf8)
    #expect(Array(reader).records == [numbered(1)] && reader.position == Int64(first.utf8.count))
    // The disk was full. The writer has cut the file, and says later how many lines are missing.
    let gap = JournalGap(since: .zero, instant: .seconds(1), lost: 1, error: "No space left on device")
    source.bytes = Array((first + gap.jsonLine + "\n" + second).utf8)
    let rest = Array(reader)
    #expect(rest.gaps == [gap] && rest.records == [numbered(2)] && rest.damage.isEmpty)
  }

  /// Every input that broke the reader once stays in the folder `Damaged`.
  @Test func `what broke the reader once does so no more`() throws {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Damaged")
    let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
    try #require(!files.isEmpty)
    for file in files { check(Array(try Data(contentsOf: file)), file.lastPathComponent) }
  }
}
