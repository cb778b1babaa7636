import PubSub
import Scheduling
import Testing

@testable import Service

/// The daemon's pure parts.
@Suite struct ServiceComponentTests {
  private func count(_ pieces: [[UInt8]], onlyOneLine: Bool = false) -> (answer: String, stop: WordCounter.Stop) {
    var counter = WordCounter()
    var answer: [UInt8] = []
    var stop = WordCounter.Stop.endOfInput
    for piece in pieces where stop == .endOfInput {
      stop = piece.withUnsafeBytes { counter.take($0, onlyOneLine: onlyOneLine, answer: &answer) }
    }
    return (String(decoding: answer, as: UTF8.self), stop)
  }

  @Test func `Words are counted line by line, in whatever pieces they come`() {
    let seed = UInt64.random(in: .min ... .max)
    print("ServiceComponentTests.words: seed \(seed)")
    var random = SplitMix64(seed: seed)
    for _ in 0..<500 {
      let alphabet = Array("ab \t\r\n".utf8)
      let bytes = (0..<Int.random(in: 0...200, using: &random)).map { _ in alphabet.randomElement(using: &random)! }
      let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).dropLast()
      let expected = lines.map { line in "\(line.split { " \t\r".utf8.contains($0) }.count)\n" }.joined()
      var rest = bytes[...]
      var pieces: [[UInt8]] = []
      while !rest.isEmpty {
        let count = Int.random(in: 1...rest.count, using: &random)
        pieces.append(Array(rest.prefix(count)))
        rest = rest.dropFirst(count)
      }
      #expect(count(pieces).answer == expected, "seed \(seed)")
    }
  }

  @Test func `A line ends the counting where only one is wanted, and one without an end costs no memory`() {
    #expect(count([Array("a b\nc\n".utf8)], onlyOneLine: true) == ("2\n", .endOfLine))
    let long = [UInt8](repeating: 0x61, count: WordCounter.lineLimit)
    #expect(count([long, [0x0A]]) == ("1\n", .endOfInput))
    #expect(count([Array("a\n".utf8), long, [0x61]]) == ("1\n", .lineTooLong))
    #expect(count([Array(String(repeating: "x ", count: 1234).utf8) + [0x0A]]).answer == "1234\n")
  }

  /// Whatever its members do, a turn is short, and each is served once before any is served again.
  @Test func `A turn is bounded, and goes round`() {
    let seed = UInt64.random(in: .min ... .max)
    print("ServiceComponentTests.turns: seed \(seed)")
    var random = SplitMix64(seed: seed)
    var queue = TurnQueue<Int>(limit: 1000)
    // The same as a plain list: the connection that waits longest comes first.
    var waiting: [Int] = []
    var turns = 0
    for member in 0..<500 {
      waiting.append(member)
      queue.add(member)
      // Sometimes many come between two turns.
      guard member == 499 || Int.random(in: 0..<3, using: &random) == 0 else { continue }
      repeat {
        queue.beginTurn()
        turns += 1
        var work = 0
        while let next = queue.next() {
          #expect(work < 1000 && next == waiting.removeFirst(), "seed \(seed)")
          let served = TurnQueue<Int>.Served(
            work: Int.random(in: 1...100, using: &random), hasMore: Int.random(in: 0..<20, using: &random) > 0)
          work += served.work
          queue.didServe(next, served)
          if served.hasMore { waiting.append(next) }
        }
        #expect(work >= 1000 || waiting.isEmpty, "seed \(seed)")
      } while member == 499 && !queue.isEmpty
    }
    print("ServiceComponentTests.turns: \(turns) turns")
    #expect(waiting.isEmpty && queue.isEmpty)
    queue.beginTurn()
    #expect(queue.next() == nil)
  }

  @Test func `A turn ends though no connection has anything to do`() {
    var queue = TurnQueue<Int>(limit: 10)
    for member in 0..<3 { queue.add(member) }
    queue.beginTurn()
    var served = 0
    while let member = queue.next() {
      served += 1
      queue.didServe(member, .init(work: 0, hasMore: true))
    }
    #expect(served == 10)
  }
}
