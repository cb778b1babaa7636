import AppLifecycle
import AppLifecycleTestSupport
import AppLifecycleTesting
import ExampleSupport
import Foundation
import TestTraits
import Testing

@testable import ConnectionManager

/// The monitor, run through every short script and through long random ones; `SCRIPTS=all` in the environment has the full numbers.
@Suite(.timeLimit(.hang)) @MainActor struct ConnectionManagerScriptTests {
  private static let isFull = ProcessInfo.processInfo.environment["SCRIPTS"] == "all"

  /// A connection that counts what the program has open on it.
  private final class CountedTransport: Transport {
    private let transport: any Transport
    private let balance: ResourceBalance
    /// Called before a line is sent; what it returns is sent as well.
    private let echo: @MainActor (String) -> String?

    init(
      _ transport: any Transport, _ balance: ResourceBalance,
      echo: @escaping @MainActor (String) -> String? = { _ in nil }
    ) {
      (self.transport, self.balance, self.echo) = (transport, balance, echo)
      balance.opened("connection")
    }

    func read() async throws -> [UInt8]? { try await transport.read() }

    func send(_ line: String) -> Bool {
      let isSent = transport.send(line)
      if line.hasPrefix("PSUBSCRIBE") { balance.opened("subscription") }
      if line.hasPrefix("PUNSUBSCRIBE") { balance.closed("subscription") }
      if let more = echo(line) { _ = send(more) }
      return isSent
    }

    func close() {
      transport.close()
      balance.closed("connection")
    }
  }

  /// The program as it is, with a server that answers at once.
  private static func program(_ run: ScriptRun, _ options: Options = Options()) throws -> SimulatedSystem {
    let server = MemoryServer()
    return SimulatedSystem(order: run.order) {
      MonitorDelegate(options) { CountedTransport(try server.connect(), run.balance) }
    }
  }

  /// The program with a leak: where the user returns during a call, the subscription is made twice.
  private static func leakingProgram(_ run: ScriptRun) throws -> SimulatedSystem {
    let server = MemoryServer()
    weak var application: Application?
    var subscriptions = 0
    let system = SimulatedSystem(order: run.order) {
      MonitorDelegate(Options()) {
        CountedTransport(try server.connect(), run.balance) { line in
          guard line.hasPrefix("PSUBSCRIBE"), let application else { return nil }
          subscriptions += 1
          return subscriptions == 2 && application.deactivationReasons.contains(.call) ? line : nil
        }
      }
    }
    application = system.application
    return system
  }

  @Test func `Every short script, and long random ones, leave nothing open and break no rule`() async throws {
    let clock = ContinuousClock()
    let began = clock.now
    let length = Self.isFull ? 6 : 5
    let all = try await checkAllScripts(upTo: length) { try Self.program($0) }
    let actions = all.alphabet.count
    #expect(all.scripts == (1...length).reduce(0) { sum, _ in (sum + 1) * actions } + 1)
    print("scripts of up to \(length) actions, \(clock.now - began): \(all)")

    let half = clock.now
    let seed = UInt64.random(in: 0 ... .max)
    let count = Self.isFull ? 10_000 : 500
    let random = try await checkRandomScripts(seed: seed, count: count, length: 12) { run in
      // Long waits are full of health checks: one in twenty seconds leaves time for the rest.
      var options = Options()
      options.checkInterval = .seconds(20)
      return try Self.program(run, options)
    }
    #expect(random.played == count)
    print("random scripts, seed \(seed), \(clock.now - half): \(random)")
    if !Self.isFull { print("scripts of 6 actions, and 9,500 random ones, are left out; SCRIPTS=all has them") }
  }

  @Test func `A leak on an interrupted return is found by the shortest script that shows it`() async throws {
    let report = try await ScriptChecker(of: Self.leakingProgram).checkAll(upTo: 6)
    let failure = try #require(report.failure)
    #expect(failure.script == "launch; home; interrupt:call; open")
    #expect(failure.complaints.first == RunComplaint(.resource, "“subscription” was opened while it was already open"))
    print("the planted leak: \(report)")
  }

  @Test func `A leak on an interrupted return is found by random scripts, and shrunk`() async throws {
    let checker = try ScriptChecker(alphabet: ScriptAlphabet.extended, of: Self.leakingProgram)
    // By removing actions alone some seeds end with six: the program was killed and launched on the way.
    for _ in 0..<20 {
      let seed = UInt64.random(in: 0 ... .max)
      let report = try await checker.checkRandom(seed: seed, count: 10_000, length: 30)
      let failure = try #require(report.failure, "seed \(seed)")
      #expect(failure.script.split(separator: "; ").count <= 4, "\(failure)")
      print("the planted leak, seed \(seed): \(report.played) played, \(failure.script)")
    }
  }
}
