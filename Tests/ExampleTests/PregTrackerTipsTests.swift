import AppLifecycle
import ExampleSupport
import PseudoTerminal
import TestTraits
import Testing

@testable import PregTracker

@Suite struct PregTrackerLineTests {
  @Test func `Lines are made of whatever pieces arrive`() {
    var lines = LineBuffer()
    #expect(lines.append("one\ntw".utf8) == ["one"])
    #expect(lines.append("".utf8) == [])
    #expect(lines.append("o\r\n\nthree".utf8) == ["two", ""])
    #expect(lines.append("\n".utf8) == ["three"])
  }

  @Test func `A line without end is cut, bytes that are no text are replaced`() {
    var lines = LineBuffer()
    #expect(lines.append(String(repeating: "x", count: 100_000).utf8) == [])
    #expect(lines.append("\ny\n".utf8) == [String(repeating: "x", count: LineBuffer.limit), "y"])
    #expect(lines.append([0xFF, 0x0A]) == ["\u{FFFD}"])
  }
}

/// Real sockets, on this machine only.
@Suite @MainActor struct PregTrackerTipsTests {
  private let reports = Monitor<[TipsReport]>([])
  private var quick: RetryPolicy {
    var policy = RetryPolicy()
    policy.first = .milliseconds(1)
    return policy
  }

  private func connect(to endpoint: Endpoint) -> TCPTipsConnection {
    TCPTipsConnection(to: endpoint, retry: quick) { [reports] report in reports.update { $0.append(report) } }
  }

  /// Waits for the first report that is wanted, and forgets it and all before it.
  private func report<Found: Sendable>(
    _ name: String, _ isWanted: @escaping @Sendable (TipsReport) -> Found?
  ) async throws -> Found {
    try await reports.wait(for: name, within: .seconds(240)) { reports in
      for (index, report) in reports.enumerated() {
        guard let found = isWanted(report) else { continue }
        reports.removeSubrange(...index)
        return found
      }
      return nil
    }
  }

  private func tip() async throws -> String {
    try await report("a tip") { if case .tip(let tip) = $0 { tip } else { nil } }
  }

  private func problem() async throws -> String {
    try await report("a failure") { if case .failed(let problem, _) = $0 { problem } else { nil } }
  }

  @Test func `The program's own server sends a tip at once and another for each request`() async throws {
    let server = try LocalTips()
    let connection = connect(to: server.endpoint)
    #expect(try await tip() == Tips.all[0])
    connection.requestTip()
    #expect(try await tip() == Tips.all[1])
    await connection.close()
    await server.stop()
  }

  @Test func `The server serves several connections, and stopping it ends them`() async throws {
    let server = try LocalTips()
    let one = connect(to: server.endpoint)
    _ = try await tip()
    let other = connect(to: server.endpoint)
    _ = try await tip()
    await server.stop()
    #expect(try await problem() == "\(server.endpoint): closed by the server")
    await one.close()
    await other.close()
  }

  @Test func `Closing reaches the other side, and is over when it returns`() async throws {
    try await LineServer.run { server in
      let connection = connect(to: Endpoint(host: "127.0.0.1", port: server.port))
      let peer = try await server.nextConnection()
      peer.send("one")
      #expect(try await tip() == "one")
      connection.requestTip()
      #expect(try await peer.nextLine() == "next")
      await connection.close()
      try await peer.closed()
      connection.requestTip()
      await connection.close()
    }
  }

  @Test func `A host may be a name, each of its addresses is tried`() async throws {
    try await LineServer.run { server in
      let connection = connect(to: Endpoint(host: "localhost", port: server.port))
      try await server.nextConnection().send("one")
      #expect(try await tip() == "one")
      await connection.close()
    }
  }

  @Test func `A connection that is lost is opened again`() async throws {
    try await LineServer.run { server in
      let connection = connect(to: Endpoint(host: "127.0.0.1", port: server.port))
      try await server.nextConnection().close()
      #expect(try await problem() == "127.0.0.1:\(server.port): closed by the server")
      try await server.nextConnection().send("again")
      #expect(try await tip() == "again")
      await connection.close()
    }
  }

  @Test func `A server that is not there is named and tried again until it is`() async throws {
    let reserved = try ReservedPort()
    let port = reserved.port
    let connection = connect(to: Endpoint(host: "127.0.0.1", port: port))
    for _ in 1...3 { #expect(try await problem() == "127.0.0.1:\(port): Connection refused") }
    try await LineServer.run(port: port) { server in
      try await server.nextConnection().send("here")
      #expect(try await tip() == "here")
    }
    await connection.close()
  }

  @Test func `The waits grow from failure to failure`() async throws {
    let reserved = try ReservedPort()
    let connection = connect(to: Endpoint(host: "127.0.0.1", port: reserved.port))
    var delays: [Duration] = []
    for _ in 1...5 {
      delays.append(try await report("a failure") { if case .failed(_, let delay) = $0 { delay } else { nil } })
    }
    #expect(delays == delays.sorted())
    #expect(delays[4] >= .milliseconds(16) * 0.8)
    await connection.close()
  }

  @Test func `A host without an address is named`() async throws {
    let connection = connect(to: Endpoint(host: "nobody.invalid", port: 1))
    #expect(try await problem().hasPrefix("nobody.invalid:1: "))
    await connection.close()
  }

  @Test(.timeLimit(.hang))
  func `A server that never stops sending leaves everything else its turn, on the same actor`() async throws {
    try await LineServer.run { server in
      let connection = connect(to: Endpoint(host: "127.0.0.1", port: server.port))
      let peer = try await server.nextConnection()
      let lines = String(repeating: "a tip\n", count: 5_000)
      startThread { while !peer.isClosed { peer.send(lines) } }
      #expect(try await tip() == "a tip")
      await connection.close()
      try await peer.closed()
    }
  }

  @Test func `A connection can be closed before it stands`() async throws {
    let connection = connect(to: Endpoint(host: "nobody.invalid", port: 1))
    await connection.close()
    #expect(reports.state.allSatisfy { if case .connecting = $0 { true } else { false } })
  }
}
