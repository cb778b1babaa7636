import AppLifecycle
import AppLifecycleTesting
import Foundation
import LifecycleJournal
import Scheduling

/// A journal of any length, with damage in it, and what is to be found there.
///
/// Run after run of one program, the same each time; the last one is longer than a page can be.
struct LongJournal {
  /// How many lines of one run the program has written over and over again; and what they are.
  private let life: String
  private let linesOfLife: Int
  private let callsOfLife: Int
  /// How many runs there are.
  private(set) var runs = 0
  /// How many lines are whole, those that begin runs among them.
  private(set) var lines = 0
  /// How many lines are whole in the last run.
  private(set) var linesOfLastRun = 0
  /// How many calls of a delegate there are.
  private(set) var calls = 0
  /// How many lines are damaged.
  private(set) var damagedLines = 0

  static let firstStart = Duration.seconds(1_795_280_400)
  /// From one run to the next.
  static let pause = Duration.seconds(1_000)

  /// Writes a journal of so many bytes at least.
  init(to path: String, bytes: Int, seed: UInt64) async throws {
    let script = "launch;" + String(repeating: "home; wait:2s; open; wait:1s; interrupt:call; end:call;", count: 12)
    let records = try await SimulatedSystem(profile: .scenes).play("\(script) kill")
    let entry =
      #"{"journal":"entry","t":3.5,"began":3.0,"kind":"resource","name":"feed","source":null,"step":"#
    life =
      records.jsonLines + entry + "\"acquire\",\"outcome\":\"completed\"}\n"
      + entry + "\"release\",\"outcome\":\"completed\"}\n"
    linesOfLife = life.utf8.count { $0 == UInt8(ascii: "\n") }
    callsOfLife = records.count { $0.kind == .delegate }

    var random = SplitMix64(seed: seed)
    guard FileManager.default.createFile(atPath: path, contents: nil) else { throw CocoaError(.fileWriteUnknown) }
    let file = try FileHandle(forWritingTo: URL(filePath: path))
    defer { try? file.close() }
    let lives = 25_000 / linesOfLife + 1
    var length = 0
    while length < bytes - lives * life.utf8.count || runs < 5 {
      var chunk = run(of: 1)
      chunk.append(damage(&random))
      chunk.append(UInt8(ascii: "\n"))
      damagedLines += 1
      length += chunk.count
      try file.write(contentsOf: chunk)
    }
    try file.write(contentsOf: run(of: lives))
    // It died in the middle of a line.
    try file.write(contentsOf: Data("{\"t\":".utf8))
    damagedLines += 1
  }

  private mutating func run(of lives: Int) -> Data {
    let start = Self.firstStart + Self.pause * runs
    runs += 1
    linesOfLastRun = lives * linesOfLife + 1
    lines += linesOfLastRun
    calls += lives * callsOfLife
    let header = RunHeader(
      run: "run-\(runs)", program: "trips", processID: 4_711, bootID: "boot", start: start, wallTime: start)
    return Data((header.jsonLine + "\n").utf8) + Data(String(repeating: life, count: lives).utf8)
  }

  /// What may stand in a file in the place of a line: noise, a line that was cut off, zeros, one without end, a wrong one.
  private func damage(_ random: inout SplitMix64) -> Data {
    switch runs % 5 {
    case 0: Data((0..<300).map { _ in UInt8.random(in: 128...255, using: &random) })
    case 1: Data(life.utf8.prefix(Int.random(in: 5...60, using: &random)))
    case 2: Data(repeating: 0, count: 4_096)
    case 3: runs == 3 ? Data(repeating: UInt8(ascii: "x"), count: 1_500_000) : Data("{}".utf8)
    default: Data(#"{"t":0.0,"kind":"input"}"#.utf8)
    }
  }
}
