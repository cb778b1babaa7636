import EventLink
import PseudoTerminal
import TestTraits
import Testing

@Suite(.timeLimit(.hang)) struct `The contract of transports` {
  @Test func `is kept in memory`() async throws {
    let broker = MemoryBroker()
    #expect(try await TransportContract.check { broker.transport() } == [])
  }

  #if MQTT
    @Test(.enabled(if: Broker.obstacle == nil, "\(Broker.obstacle ?? "")"))
    func `is kept over MQTT`() async throws {
      try await withTemporaryDirectory { directory in
        let broker = try Broker(in: directory)
        let child = try await broker.start()
        let port = Int(broker.port)
        let violations = try await TransportContract.check {
          MQTTTransport(host: "127.0.0.1", port: port, patience: .seconds(60))
        }
        #expect(violations == [])
        await child.end()
      }
    }
  #endif
}
