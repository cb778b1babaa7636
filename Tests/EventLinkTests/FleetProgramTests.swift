#if MQTT
  import EventLink
  import Foundation
  import Glibc
  import PseudoTerminal
  import TestTraits
  import Testing

  /// The example and the tool, as programs with a broker.
  @Suite(.timeLimit(.hang), .enabled(if: Broker.obstacle == nil, "\(Broker.obstacle ?? "")"))
  struct `The programs of a fleet` {
    private func start(
      _ arguments: [String], _ broker: Broker, _ directory: TemporaryDirectory, output: String = "/dev/null"
    ) throws -> ChildProcess {
      let file = open(output, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
      defer { close(file) }
      return try ChildProcess(
        [builtProduct("Fleet")] + arguments + ["--port", "\(broker.port)"], environment: bareEnvironment,
        descriptors: (-1, file, -1), directory: directory.path)
    }

    @Test func `Fleet does every order, though a worker is killed, one ends, and the broker restarts`() async throws {
      try await withTemporaryDirectory { directory in
        let broker = try Broker(in: directory)
        var server = try await broker.start()
        let log = try LineFile(directory.file("log"))
        let coordinator = try start(["coordinator"], broker, directory, output: log.path)
        let workers = try (1...3).map { try start(["worker", "\($0)"], broker, directory) }
        // In any order.
        for _ in 1...3 { try await log.line("a worker runs") { $0.hasSuffix("is background") } }
        try await log.line("an order is done") { $0.hasPrefix("order ") }
        workers[0].signal(SIGKILL)
        try await log.line("the killed one vanished") { $0 == "checkout/fleet/worker-1 is vanished" }
        workers[1].signal(SIGTERM)
        try await log.line("the other one ended in order") { $0 == "checkout/fleet/worker-2 is ended (0)" }
        #expect(try await workers[1].ending() == .exited(0))
        await server.end()
        server = try await broker.start()
        try await log.line("all orders are done again") { $0.hasSuffix("by checkout/fleet/worker-3, 0 are open") }
        coordinator.signal(SIGTERM)
        #expect(try await coordinator.ending() == .exited(0))
        for worker in workers { await worker.end() }
        await server.end()
      }
    }

    @Test func `lifecycle fleet ends with a status and a message when its output is full`() async throws {
      try await withTemporaryDirectory { directory in
        let broker = try Broker(in: directory)
        let server = try await broker.start()
        let (full, errors) = (open("/dev/full", O_WRONLY | O_CLOEXEC), creat(directory.file("errors"), 0o600))
        defer { for file in [full, errors] { close(file) } }
        let tool = try ChildProcess(
          [builtProduct("lifecycle"), "fleet", "--json", "--broker", "127.0.0.1:\(broker.port)", "checkout/fleet/+"],
          environment: bareEnvironment, descriptors: (-1, full, errors), directory: directory.path)
        let worker = try start(["worker", "1"], broker, directory)
        #expect(try await tool.ending() == .exited(74))
        #expect(try String(contentsOfFile: directory.file("errors"), encoding: .utf8).contains("No space left"))
        await worker.end()
        await server.end()
      }
    }

    /// Runs the tool in a terminal, with a broker that keeps the announcement of a running process on each topic.
    private func watching(
      _ topics: [String], environment: [String: String] = ["TERM": "xterm"],
      _ body: (PseudoTerminal, _ server: ChildProcess) async throws -> Void
    ) async throws {
      try await withTemporaryDirectory { directory in
        let broker = try Broker(in: directory)
        let server = try await broker.start()
        let transport = MQTTTransport(host: "127.0.0.1", port: Int(broker.port), patience: .seconds(60))
        try await transport.connect(will: nil) { _ in }
        let event = #"{"specversion":"1.0","id":"b","source":"test","type":"swift-app-lifecycle.fleet.state","#
        let data = #""data":{"state":"active","birth":"b","time":"2026-11-21T17:00:00Z"}}"#
        for (number, topic) in topics.enumerated() {
          transport.publish(
            LinkMessage(
              topic: topic, payload: Array((event + data).utf8), quality: .atLeastOnce, isRetained: true),
            number: UInt64(number + 1))
        }
        await transport.disconnect()
        try await PseudoTerminal.run(
          [builtProduct("lifecycle"), "fleet", "--broker", "127.0.0.1:\(broker.port)"], environment: environment
        ) { try await body($0, server) }
        await server.end()
      }
    }

    @Test func `lifecycle fleet keeps its first line with names of wide characters`() async throws {
      let topics = (100..<150).map { "\($0)/" + String(repeating: "工", count: 35) }
      try await watching(topics) { tool, _ in
        try await tool.waitForScreen("the first line") { screen in
          screen.lines.first?.hasPrefix("127.0.0.1, 50 processes; q quits") == true
            && screen.lines.contains { $0.hasSuffix(" more") }
        }
        tool.send("q")
        #expect(try await tool.child.ending() == .exited(0))
      }
    }

    @Test func `lifecycle fleet makes its columns as wide as the rows that are shown need`() async throws {
      let topics = (100..<150).map { "\($0)" } + ["z" + String(repeating: "z", count: 60)]
      try await watching(topics) { tool, _ in
        try await tool.waitForScreen("the first row") { screen in
          screen.lines.contains { $0.hasPrefix("100    active  2026-11-21T17:00:00Z") }
            && screen.lines.last { !$0.isEmpty }?.hasSuffix(" more") == true
        }
        tool.send("q")
        #expect(try await tool.child.ending() == .exited(0))
      }
    }

    @Test func `lifecycle fleet prints lines on a terminal that cannot show a screen`() async throws {
      try await watching(["a"], environment: ["TERM": "dumb"]) { tool, _ in
        try await tool.wait(for: "a  active")
        tool.child.signal(SIGKILL)
        _ = try await tool.child.ending()
      }
    }

    @Test func `lifecycle fleet ends with the status of its host`() async throws {
      let command = "ulimit -n 9; exec '\(builtProduct("lifecycle"))' fleet --broker 127.0.0.1:1"
      try await PseudoTerminal.run(["/bin/sh", "-c", command], environment: ["TERM": "xterm"]) { terminal in
        #expect(try await terminal.child.ending() == .exited(71))
        try await terminal.wait(for: "too few file descriptors")
      }
    }

    @Test func `lifecycle fleet draws what the display announces, Ctrl-Z and fg included`() async throws {
      try await withTemporaryDirectory { directory in
        let broker = try Broker(in: directory)
        let server = try await broker.start()
        try await PseudoTerminal.run(
          [builtProduct("lifecycle"), "fleet", "--broker", "127.0.0.1:\(broker.port)", "checkout/fleet/+"],
          environment: ["APP_LIFECYCLE_HOST": "terminal"]
        ) { tool in
          func row(_ what: String) async throws {
            try await tool.waitForScreen("the display \(what)") { screen in
              screen.lines.contains { $0.hasPrefix("checkout/fleet/display  \(what)") }
            }
          }
          try await Shell.bash.run { terminal in
            terminal.line("\(builtProduct("Fleet")) display --port \(broker.port)")
            try await row("active")
            terminal.control("Z")
            try await terminal.prompt()
            try await row("suspended")
            terminal.line("fg")
            try await row("active")
            terminal.send("q")
            try await row("ended (0)")
            try await terminal.prompt()
          }
          tool.send("q")
          #expect(try await tool.child.ending() == .exited(0))
        }
        await server.end()
      }
    }
  }
#endif
