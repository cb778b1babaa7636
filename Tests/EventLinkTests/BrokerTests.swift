#if MQTT
  import AppLifecycle
  import EventLink
  import Glibc
  import LinkWorkload
  import PseudoTerminal
  import PubSub
  import Scheduling
  import TestTraits
  import Testing

  @MainActor @Suite(.timeLimit(.hang), .serialized, .enabled(if: Broker.obstacle == nil, "\(Broker.obstacle ?? "")"))
  struct `Processes with a broker` {
    private let scale = LinkScale()

    /// A broker, what damages the connections to it, and the processes behind that.
    private func start(
      _ quality: LinkQuality, _ harm: ConnectionHarm, in directory: TemporaryDirectory
    ) async throws -> (broker: Broker, server: ChildProcess, proxy: DamagingProxy, probes: [ChildProcess]) {
      let (broker, authority): (Broker, String?)
      switch harm {
      case .cuts: (broker, authority) = (try Broker(in: directory), nil)
      case .lostBytes: (broker, authority) = try await Broker.encrypted(in: directory)
      }
      let server = try await broker.start()
      let proxy = try DamagingProxy(to: broker.encryptedPort ?? broker.port, seed: chosenSeed())
      let probes = try (0..<scale.processes).map {
        try LinkProcess.start($0, of: scale.processes, proxy.port, quality, authority: authority, in: directory)
      }
      return (broker, server, proxy, probes)
    }

    /// Lets all hear of each other: from then on nothing may be lost in silence.
    private func introduce(_ observatory: Observatory) async throws {
      let processes = scale.processes
      try await observatory.until("all are connected") { _ in observatory.fleet.members.count == processes }
      observatory.application.bus.post(Go(ticks: 1))
      try await observatory.until("all have heard of each other", asking: true) { scale.allHave(1, $0) }
    }

    private func end(
      _ observatory: Observatory, _ server: ChildProcess, _ proxy: DamagingProxy, _ probes: [ChildProcess]
    ) async throws {
      print("\(scale), \(proxy.count)")
      #expect(proxy.count.damages > 0)
      for probe in probes { probe.signal(SIGTERM) }
      for probe in probes { #expect(try await probe.ending() == .exited(0)) }
      await observatory.end()
      await server.end()
      proxy.end()
    }

    @Test(arguments: ConnectionHarm.allCases)
    func `lose nothing that is sent at least once, though the broker is killed (1, 4)`(harm: ConnectionHarm)
      async throws
    {
      try await withTemporaryDirectory { directory in
        var (broker, server, proxy, probes) = try await start(.atLeastOnce, harm, in: directory)
        let observatory = try await Observatory(port: broker.port)
        try await introduce(observatory)
        proxy.damage(scale.damage(harm, .atLeastOnce))
        observatory.application.bus.post(Go(ticks: scale.ticks))
        for round in 1...5 {
          try await observatory.until("round \(round)", within: scale.patience, asking: true) { tallies in
            tallies.values.allSatisfy { $0.posted >= scale.ticks * round / 7 }
          }
          if round == 3 { try await scale.stop(server, observatory) }
          await server.end()
          server = try await broker.start()
        }
        try await observatory.until("everything arrives", within: scale.patience, asking: true) {
          scale.allHave(1 + scale.ticks, $0)
        }
        await proxy.mend()
        try await observatory.untilAllAnswer(scale.processes)
        for tally in observatory.tallies.values {
          #expect(tally.wrong.isEmpty && tally.missed == 0)
        }
        try await end(observatory, server, proxy, probes)
      }
    }

    @Test(arguments: ConnectionHarm.allCases) func `count what is lost at most once (3)`(harm: ConnectionHarm)
      async throws
    {
      try await withTemporaryDirectory { directory in
        var (broker, server, proxy, probes) = try await start(.atMostOnce, harm, in: directory)
        let observatory = try await Observatory(port: broker.port)
        try await introduce(observatory)
        proxy.damage(scale.damage(harm, .atMostOnce))
        var posted = 1
        for round in 1...scale.rounds {
          observatory.application.bus.post(Go(ticks: scale.ticks / scale.rounds))
          posted += scale.ticks / scale.rounds
          if round % (scale.rounds / 5) == 0 {
            if round == scale.rounds / 5 * 3 { try await scale.stop(server, observatory) }
            await server.end()
            server = try await broker.start()
          }
          try await observatory.until("all have posted", within: scale.patience, asking: true) { tallies in
            tallies.values.allSatisfy { $0.posted == posted }
          }
        }
        // What is lost last is counted with what comes next.
        await proxy.mend()
        try await observatory.untilAllAnswer(scale.processes)
        observatory.application.bus.post(Go(ticks: 1))
        posted += 1
        try await observatory.until("each tick is counted", within: scale.patience, asking: true) { tallies in
          tallies.values.allSatisfy { tally in
            tally.received.values.reduce(tally.missed, +) == scale.senders(to: tally.from).count * posted
          }
        }
        for tally in observatory.tallies.values { #expect(tally.wrong.isEmpty) }
        let missed = observatory.tallies.values.reduce(0) { $0 + $1.missed }
        print("missed, of \(scale.processes * scale.senders(to: 0).count * posted) deliveries: \(missed)")
        try await end(observatory, server, proxy, probes)
      }
    }

    /// Without encryption a lost byte may turn into anything.
    @Test func `stay well with connections that lose bytes, and work again afterwards (12)`() async throws {
      try await withTemporaryDirectory { directory in
        let (broker, server, proxy, probes) = try await start(.atLeastOnce, .cuts, in: directory)
        let observatory = try await Observatory(port: broker.port)
        try await introduce(observatory)
        proxy.damage(.bytes(every: 5_000))
        observatory.application.bus.post(Go(ticks: scale.ticks))
        try await observatory.until("many bytes are lost", within: scale.patience) { _ in proxy.count.damages >= 100 }
        // A link or broker that waits for the rest of a damaged message must notice that alone.
        await proxy.mend(closesDamaged: false)
        try await observatory.untilAllAnswer(scale.processes)
        observatory.application.bus.post(Go(ticks: 1))
        try await observatory.until("all hear of all again", within: scale.patience, asking: true) { tallies in
          tallies.values.allSatisfy { tally in
            scale.senders(to: tally.from).allSatisfy { tally.latest[$0] == 2 + scale.ticks }
          }
        }
        for probe in probes { #expect(try LinkProcess.peakMemory(of: probe) < 256 << 20) }
        try await end(observatory, server, proxy, probes)
      }
    }

    /// What `open` throws for a transport.
    private func failure(_ transport: MQTTTransport) async throws -> String {
      let link = try EventLink(of: Application(delegate: Bare()), to: transport) { _ in }
      do { try await link.open() } catch { return "\(error)" }
      await link.close()
      return "open"
    }

    @Test func `say why they cannot connect`() async throws {
      try await withTemporaryDirectory { directory in
        try directory.write("wrong\n", to: "password")
        let users = directory.file("users")
        try directory.write("", to: "users")
        let broker = try Broker(in: directory, ["allow_anonymous false", "password_file \(users)"])
        let nothing = try ReservedPort().port
        #expect(
          try await failure(MQTTTransport(host: "127.0.0.1", port: Int(nothing)))
            == "127.0.0.1:\(nothing): Connection refused")
        let server = try await broker.start()
        let port = Int(broker.port)
        for credentials in [nil, MQTTTransport.Credentials(name: "x", passwordFile: directory.file("password"))] {
          let text = try await failure(MQTTTransport(host: "127.0.0.1", port: port, credentials: credentials))
          #expect(text == "127.0.0.1:\(port): Connection Refused: not authorised.")
        }
        let missing = directory.file("missing")
        #expect(
          try await failure(
            MQTTTransport(host: "127.0.0.1", port: port, credentials: .init(name: "x", passwordFile: missing)))
            == "the password in \(missing) cannot be read")
        // A broker that takes the connection and never answers.
        server.signal(SIGSTOP)
        #expect(
          try await failure(MQTTTransport(host: "127.0.0.1", port: port, patience: .milliseconds(200)))
            == "127.0.0.1:\(port): the broker’s answer did not come within 0.2 seconds")
        await server.end()
      }
    }

    /// A thousand with `LINK_DEATHS`.
    @Test func `die in ways that the fleet tells apart`() async throws {
      try await withTemporaryDirectory { directory in
        let broker = try Broker(in: directory)
        let server = try await broker.start()
        let observatory = try await Observatory(port: broker.port)
        let deaths = Environment.variable("LINK_DEATHS").flatMap { Int($0) } ?? 10
        var counts: [String: Int] = [:]
        var longest = Duration.zero
        for death in 0..<deaths {
          @MainActor func shows(_ state: String) async throws {
            try await observatory.until("\(death) is \(state)") { _ in observatory.states()["\(death)"] == state }
          }
          @MainActor func dies(_ how: String, _ state: String, _ act: () -> Void) async throws {
            let start = ContinuousClock.now
            act()
            try await shows(state)
            longest = max(longest, start.duration(to: .now))
            counts["\(how): \(state)", default: 0] += 1
          }
          if death % 5 == 4 {
            try await Shell.bash.run { terminal in
              let command = LinkProcess.command(death, broker.port, .atMostOnce, while: "foreground")
              terminal.line("APP_LIFECYCLE_HOST=terminal " + command.joined(separator: " "))
              try await shows("active")
              try await dies("Ctrl-Z", "suspended") { terminal.control("Z") }
            }
          } else {
            let probe = try LinkProcess.start(death, broker.port, .atMostOnce, in: directory)
            try await shows("background")
            let (how, signal, state) = [
              ("kill -9", SIGKILL, "vanished"), ("crash", SIGSEGV, "vanished"), ("order to end", SIGTERM, "ended (0)"),
              ("abort", SIGABRT, "vanished"),
            ][death % 5]
            try await dies(how, state) { probe.signal(signal) }
            await probe.end()
          }
        }
        print("deaths: \(counts), the longest took \(longest)")
        await observatory.end()
        await server.end()
      }
    }
  }
#endif
