import BenchmarkHarness
import Foundation
import PseudoTerminal

/// Measures a link beside a plain program with libmosquitto and beside mosquitto's own clients, over one broker of its own.
@main @MainActor enum LinkBenchmarks {
  static func main() async {
    if let obstacle = BenchmarkBroker.obstacle {
      print("Nothing was measured: \(obstacle).")
      exit(CommandLine.arguments.contains("--check") ? 1 : 0)
    }
    do {
      exit(try await measured())
    } catch {
      FileHandle.standardError.write(Data("LinkBenchmarks: \(error)\n".utf8))
      exit(1)
    }
  }

  private static func measured() async throws -> Int32 {
    let broker = try await BenchmarkBroker()
    let status: Int32
    do {
      let pairs = try await Pairs(port: broker.port)
      status = program(pairs, broker).run()
      await pairs.end()
    } catch {
      await broker.end()
      throw error
    }
    await broker.end()
    return status
  }

  private static func program(_ pairs: Pairs, _ broker: BenchmarkBroker) -> BenchmarkProgram {
    BenchmarkProgram(
      "LinkBenchmarks", command: "swift run -c release --traits MQTT LinkBenchmarks",
      about: """
        Measures how many events a second a link carries from one process's bus to another's, how long one event takes, and what its
        poster pays. Beside it, a publisher and a subscriber in plain C with libmosquitto, and mosquitto_pub and mosquitto_sub.
        """,
      sections: { isQuick in
        [
          .throughput(pairs, isQuick), .processorTime(pairs, broker, isQuick), .latency(pairs, isQuick),
          .posters(pairs, isQuick),
        ]
      },
      notes: { _ in
        [
          """
          The same payloads over one broker on this machine. The plain program writes each with snprintf, and reads one number of it by
          strtol. The link numbers and checks an event of Swift, whose coding does the same; in the column Codable, Foundation's JSON
          coder writes and reads it instead. Each has its publisher and subscriber in this process.
          """
        ] + (pairs.clients.isEmpty ? ["mosquitto_pub and mosquitto_sub are not installed."] : [])
      })
  }
}
