import Glibc
import PseudoTerminal
import Scheduling
import Synchronization
import TestTraits
import Testing

/// The server of the page on services, word for word, with sockets of the loopback: no flood of clients makes it drop one.
///
/// In each flood a client at least is accepted just as the phase closes. A client that is dropped without a run traps.
@Suite(.serialized, .timeLimit(.hang)) struct DrainingServerTests {
  private static let threads = 8

  /// `REPETITIONS=1000` makes it 1,000 floods each.
  @Test(arguments: [false, true]) func eachClientThatIsAcceptedHasItsRun(wrapsChannels: Bool) async throws {
    let seed = UInt64.random(in: .min ... .max)
    print("floods of a server, channels: \(wrapsChannels), seed: \(seed)")
    var random = SplitMix64(seed: seed)
    for flood in 0..<repetitions(default: 20) {
      let answers = Int.random(in: 0...100, using: &random)
      try await ProbeSession.run("LineServerProbe", on: .plain) { probe in
        let reserved = try ReservedPort()
        let options = ["--port", "\(reserved.port)"] + (wrapsChannels ? ["--channels"] : [])
        async let finished = runProgram(probe.arguments() + options, inOwnSession: true)
        try await probe.log.line(startingWith: "pid ")
        let clients = Flood(of: reserved.port, ordersAfter: answers) { [pid = try probe.pid()] in kill(pid, SIGTERM) }
        let torn = await clients.run(threads: Self.threads)
        let end = try await finished
        let comment: Comment = "seed \(seed), flood \(flood): \(probe.log.lines) \(end.errors)"
        #expect(end.ending == .exited(0), comment)
        #expect(torn.isEmpty, "seed \(seed), flood \(flood): \(torn)")
        let counts = try #require(probe.log.lines.last?.split { !$0.isNumber }.compactMap { Int($0) }, comment)
        #expect(counts.count == 3 && Set(counts).count == 1 && counts[0] >= answers, comment)
      }
    }
  }
}

/// Clients that connect again and again, each to send one line, until the server refuses them.
private final class Flood: Sendable {
  private let port: UInt16
  private let answers: Int
  private let order: @Sendable () -> Void
  private let count = Atomic(0)

  /// - Parameters:
  ///   - port: the port of the server.
  ///   - answers: the number of answers after which the server gets its order to end.
  ///   - order: orders it to end.
  init(of port: UInt16, ordersAfter answers: Int, order: @escaping @Sendable () -> Void) {
    (self.port, self.answers, self.order) = (port, answers, order)
  }

  /// Returns the answers that were neither complete nor empty.
  func run(threads: Int) async -> [String] {
    if answers == 0 { order() }
    return await withTaskGroup(of: [String].self) { group in
      for _ in 0..<threads { group.addTask { await onThread { self.clients() } } }
      return await group.reduce(into: []) { $0 += $1 }
    }
  }

  private func clients() -> [String] {
    var torn: [String] = []
    while let answer = client() {
      if answer == "word\n" {
        if count.add(1, ordering: .sequentiallyConsistent).newValue == answers { order() }
      } else if !answer.isEmpty {
        torn.append(answer)
      }
    }
    return torn
  }

  /// Connects, sends a line in two pieces, and returns the answer; nil if the server is gone.
  private func client() -> String? {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
    let isConnected = withUnsafePointer(to: address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
    guard isConnected else { return nil }
    for piece in ["wo", "rd\n"] { _ = send(descriptor, piece, piece.utf8.count, Int32(MSG_NOSIGNAL)) }
    var answer: [UInt8] = []
    var byte: UInt8 = 0
    while answer.last != UInt8(ascii: "\n"), read(descriptor, &byte, 1) == 1 { answer.append(byte) }
    return String(decoding: answer, as: UTF8.self)
  }
}
