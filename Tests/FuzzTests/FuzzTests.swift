import Foundation
import FuzzTargets
import PubSub
import Scheduling
import TestTraits
import Testing

/// The inputs from which the fuzzer starts, and those with which it has found a fault, once more.
@Suite(.timeLimit(.hang)) struct FuzzTests {
  private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "Fuzz")

  private func inputs(_ kind: String, of target: FuzzTarget) throws -> [URL] {
    try FileManager.default.contentsOfDirectory(
      at: Self.folder.appending(path: kind).appending(path: target.rawValue), includingPropertiesForKeys: nil
    ).filter { !$0.lastPathComponent.hasPrefix(".") }
  }

  @Test(arguments: FuzzTarget.allCases) func `What was found stays mended`(target: FuzzTarget) throws {
    let seeds = try inputs("Corpus", of: target)
    #expect(!seeds.isEmpty)
    for file in try seeds + inputs("Findings", of: target) {
      do {
        try target.run(Array(Data(contentsOf: file)))
      } catch {
        Issue.record("\(file.lastPathComponent): \(error)")
      }
    }
  }

  /// Without the fuzzer's instrumentation, so that a machine without it tries something, too.
  @Test(arguments: FuzzTarget.allCases) func `Seeds that are changed at random break no promise`(target: FuzzTarget)
    throws
  {
    let seed = UInt64.random(in: .min ... .max)
    print("FuzzTests: seed \(seed)")
    var random = SplitMix64(seed: seed)
    let seeds = try inputs("Corpus", of: target).map { Array(try Data(contentsOf: $0)) }
    for _ in 0..<100 {
      var bytes = seeds.randomElement(using: &random)!
      for _ in 0..<Int.random(in: 1...8, using: &random) where !bytes.isEmpty {
        let place = Int.random(in: bytes.indices, using: &random)
        switch Int.random(in: 0..<4, using: &random) {
        case 0: bytes[place] = .random(in: 0...255, using: &random)
        case 1: bytes.remove(at: place)
        case 2: bytes.insert(contentsOf: bytes[place...].prefix(.random(in: 1...40, using: &random)), at: place)
        default:
          let other = seeds.randomElement(using: &random)!
          bytes.insert(contentsOf: other.prefix(.random(in: 0...40, using: &random)), at: place)
        }
      }
      do {
        try target.run(bytes)
      } catch {
        Issue.record("seed \(seed), \(error): \(bytes)")
      }
    }
  }
}
