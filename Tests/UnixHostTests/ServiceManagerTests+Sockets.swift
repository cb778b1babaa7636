import Glibc
import PseudoTerminal
import Testing

/// Sockets that a real manager passes.
extension ServiceManagerTests {
  /// How many clients connect, and how often the service is restarted meanwhile, at least.
  private static let connections = 10_000
  private static let restarts = 3

  /// Connects from several threads until there were enough connections, and the file exists.
  ///
  /// - Returns: the number of connections, and the errors.
  private func connect(to path: String, until file: String) async -> (count: Int, errors: [String]) {
    let clients = 4
    return await withTaskGroup(of: (Int, [String]).self) { group in
      for client in 0..<clients {
        group.addTask {
          await onThread {
            var count = 0
            var errors: [String] = []
            while (count < Self.connections / clients || access(file, F_OK) != 0) && errors.count < 10 {
              let bytes = Array("\(client):\(1_000_000 + count)".utf8.prefix(8))
              count += 1
              do {
                let answer = try exchange(bytes, at: path)
                if answer != bytes { errors.append("\(answer) instead of \(bytes)") }
              } catch {
                errors.append("\(error)")
              }
            }
            return (count, errors)
          }
        }
      }
      return await group.reduce((0, [])) { ($0.0 + $1.0, $0.1 + $1.1) }
    }
  }

  /// The manager holds the socket: a client that connects during a restart waits, and the next process serves it.
  @Test func aRestartRefusesNoConnection() async throws {
    try await ProbeSession.run("ServiceProbe") { probe in
      let path = probe.directory.file("s")
      let listening = try LineFile(probe.directory.file("listening"))
      async let lines = underManager(
        // A busy machine is not what this is about.
        probe, options: "--listen", unit: "WatchdogSec=0\n[Unit]\nStartLimitIntervalSec=0\n",
        socket: "ListenStream=\(path)\nFileDescriptorName=words\nTriggerLimitIntervalSec=0",
        script: """
          ctl start probe.socket; echo "start $?"
          echo "listening" >> \(listening.path)
          # The first connection starts it.
          for _ in $(seq 300); do ctl is-active --quiet probe && break; sleep 0.1; done
          count=0
          until [ -e \(probe.directory.file("done")) ]; do
            ctl restart probe || echo "restart $?"
            count=$((count + 1))
            [ $count = \(Self.restarts) ] && echo > \(probe.directory.file("restarted"))
          done
          echo "restarts $count"
          ctl stop probe.socket probe; echo "stop $?"
          ctl show -p Result -p ExecMainStatus probe
          """)
      async let clients: (count: Int, errors: [String]) = {
        try await listening.line(startingWith: "listening")
        let clients = await connect(to: path, until: probe.directory.file("restarted"))
        try probe.directory.write("", to: "done")
        return clients
      }()
      let began = ContinuousClock.now
      let output = try await lines
      let (count, errors) = try await clients
      for line in ["start 0", "stop 0", "Result=success", "ExecMainStatus=0"] {
        #expect(output.contains(line), "\(output)")
      }
      #expect(!output.contains { $0.hasPrefix("restart ") }, "\(output)")
      #expect(errors == [])
      #expect(count >= Self.connections)
      let seconds = (ContinuousClock.now - began) / .seconds(1)
      print("\(count) connections, \(output.first { $0.hasPrefix("restarts") } ?? ""), in \(seconds) s")
      #expect(probe.log.lines.contains("socket words"))
      #expect(!probe.log.lines.contains { $0.hasPrefix("children inherit") })
    }
  }
}
