#if MQTT
  import AppLifecycle
  import EventLink
  import Glibc
  import PseudoTerminal
  import PubSub
  import Scheduling
  import TestTraits
  import Testing

  private struct Report: BusEvent, Codable, Hashable {
    let number: Int
    let text: String
  }

  /// An authority of the test's own, and a certificate of it for a broker named `localhost`.
  private struct Certificates {
    let authority: String
    let certificate: String
    let key: String

    static var obstacle: String? {
      Broker.obstacle ?? (installedProgram("openssl") == nil ? "openssl is not installed" : nil)
    }

    init(in directory: TemporaryDirectory) async throws {
      authority = directory.file("authority.pem")
      (certificate, key) = (directory.file("server.pem"), directory.file("server.key"))
      let newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
      try directory.write("subjectAltName=DNS:localhost\n", to: "names")
      let signing = directory.file("authority.key")
      for arguments in [
        ["req", "-x509", "-subj", "/CN=Authority", "-days", "2", "-keyout", signing, "-out", authority] + newKey,
        ["req", "-subj", "/CN=localhost", "-keyout", key, "-out", directory.file("request")] + newKey,
        [
          "x509", "-req", "-in", directory.file("request"), "-CA", authority, "-CAkey", signing, "-CAcreateserial",
          "-days", "2", "-extfile", directory.file("names"), "-out", certificate,
        ],
      ] {
        let run = try await runProgram(["/usr/bin/env", "openssl"] + arguments)
        #expect(run.ending == .exited(0), "\(run.errors)")
      }
    }

    var brokerLines: [String] { ["certfile \(certificate)", "keyfile \(key)"] }
  }

  /// A server of TLS that reads and forgets what it gets, and sends what the test says.
  private final class TalkingServer: Sendable {
    let child: ChildProcess
    let port: UInt16
    private let input: Int32

    init(_ certificates: Certificates, in directory: TemporaryDirectory) async throws {
      port = try ReservedPort().port
      let log = try LineFile(directory.file("log"))
      var ends: [Int32] = [0, 0]
      guard pipe(&ends) == 0 else { throw SystemError("pipe") }
      input = ends[1]
      let output = open(log.path, O_WRONLY | O_CLOEXEC)
      child = try ChildProcess(
        [
          "/usr/bin/env", "openssl", "s_server", "-accept", "127.0.0.1:\(port)", "-cert", certificates.certificate,
          "-key", certificates.key,
        ], environment: bareEnvironment, descriptors: (ends[0], output, -1), directory: directory.path)
      close(ends[0])
      close(output)
      try await log.line("the server listens") { $0 == "ACCEPT" }
    }

    deinit { close(input) }

    func say(_ bytes: [UInt8]) {
      #expect(bytes.withUnsafeBytes { write(input, $0.baseAddress, $0.count) } == bytes.count)
    }
  }

  @MainActor @Suite(.timeLimit(.hang), .enabled(if: Certificates.obstacle == nil, "\(Certificates.obstacle ?? "")"))
  struct `A link over TLS` {
    /// What opening a link throws, or `open`.
    private static func opening(_ host: String, _ port: Int, _ security: MQTTTransport.Security) async throws -> String
    {
      let transport = MQTTTransport(host: host, port: port, security: security, patience: .seconds(60))
      let link = try EventLink(of: Application(delegate: Bare()), to: transport) { _ in }
      do { try await link.open() } catch { return "\(error)" }
      await link.close()
      return "open"
    }

    @Test func `opens with a certificate that is trusted, and says why it does not with another one`() async throws {
      try await withTemporaryDirectory { directory in
        let certificates = try await Certificates(in: directory)
        let broker = try Broker(in: directory, certificates.brokerLines)
        let server = try await broker.start()
        let port = Int(broker.port)
        let trusting = MQTTTransport.Security.files(authorities: certificates.authority)
        #expect(try await Self.opening("localhost", port, trusting) == "open")
        let untrusted = try await Self.opening("localhost", port, .system)
        #expect(untrusted.hasPrefix("localhost:\(port): A TLS error occurred. ("), "\(untrusted)")
        #expect(untrusted.contains("certificate verify failed"), "\(untrusted)")
        let wrongName = try await Self.opening("127.0.0.1", port, trusting)
        #expect(wrongName.hasPrefix("127.0.0.1:\(port): A TLS error occurred. ("), "\(wrongName)")
        #expect(wrongName.contains("host name verification failed"), "\(wrongName)")
        let missing = try await Self.opening("localhost", port, .files(authorities: directory.file("missing")))
        #expect(missing.hasPrefix("localhost:\(port): ") && missing != "open", "\(missing)")
        let plain = try await Self.opening("localhost", port, .none)
        #expect(plain == "localhost:\(port): The connection was lost.", "\(plain)")
        // No user is asked for the passphrase, on whichever terminal the program may be.
        let (locked, secret) = (directory.file("locked.key"), ["-passout", "pass:secret", "-aes128"])
        let run = try await runProgram(
          ["/usr/bin/env", "openssl", "ec", "-in", certificates.key, "-out", locked] + secret)
        #expect(run.ending == .exited(0), "\(run.errors)")
        let asking = try await Self.opening(
          "localhost", port,
          .files(authorities: certificates.authority, certificate: certificates.certificate, key: locked))
        #expect(asking.hasPrefix("localhost:\(port): A TLS error occurred. ("), "\(asking)")
        await server.end()
      }
    }

    /// OpenSSL knows where the system has its certificates, and takes this variable in place of them.
    @Test func `trusts what the system trusts`() async throws {
      try await withTemporaryDirectory { directory in
        let certificates = try await Certificates(in: directory)
        let broker = try Broker(in: directory, certificates.brokerLines)
        let server = try await broker.start()
        await #expect(processExitsWith: .success) {
          [authority = certificates.authority as String, port = Int(broker.port) as Int] in
          setenv("SSL_CERT_FILE", authority, 1)
          let answer = try await Self.opening("localhost", port, .system)
          #expect(answer == "open")
        }
        await server.end()
      }
    }

    @Test func `carries payloads of many records, in order`() async throws {
      try await withTemporaryDirectory { directory in
        let certificates = try await Certificates(in: directory)
        let broker = try Broker(in: directory, certificates.brokerLines)
        let server = try await broker.start()
        let (here, there) = (Application(delegate: Bare()), Application(delegate: Bare()))
        @MainActor func link(_ application: Application) async throws -> EventLink {
          let transport = MQTTTransport(
            host: "localhost", port: Int(broker.port), security: .files(authorities: certificates.authority),
            patience: .seconds(60))
          let link = try EventLink(of: application, to: transport) { link in
            try link.share(Report.self, as: "reports", quality: .atLeastOnce)
          }
          try await link.open()
          return link
        }
        let links = [try await link(here), try await link(there)]
        let sent = (0..<400).map { number in
          Report(number: number, text: String(repeating: "x", count: number.isMultiple(of: 40) ? 500_000 : number * 50))
        }
        let came = Guarded<[Report]>([])
        let all = OneShot<Bool>()
        let subscription = there.bus.subscribe { (report: Report) in
          let count = came.withLock { came in
            came.append(report)
            return came.count
          }
          if count == sent.count { all.settle(true) }
        }
        for report in sent { here.bus.post(report) }
        _ = await all.value
        #expect(came.withLock { $0 } == sent)
        withExtendedLifetime(subscription) {}
        for link in links { await link.close() }
        await server.end()
      }
    }

    /// Brokers and proxies may send several messages in one record of TLS.
    ///
    /// Nothing of it is in the socket any more once the first one is read.
    @Test func `reads all messages of one record`() async throws {
      try await withTemporaryDirectory { directory in
        let certificates = try await Certificates(in: directory)
        let server = try await TalkingServer(certificates, in: directory)
        let count = Guarded(0)
        let all = OneShot<Bool>()
        let transport = MQTTTransport(
          host: "localhost", port: Int(server.port), security: .files(authorities: certificates.authority),
          patience: .seconds(60))
        // The answer to the connection, and messages that the client acknowledges: as it does, the library leaves an errno.
        let message: [UInt8] = [0x32, 8, 0, 1, 0x74, 0, 1, 0x78, 0x78, 0x78]
        server.say([0x20, 2, 0, 0] + Array(repeatElement(message, count: 1_000).joined()))
        try await transport.connect(will: nil) { event in
          guard case .received = event else { return }
          let number = count.withLock { count in
            count += 1
            return count
          }
          if number == 1_000 { all.settle(true) }
        }
        let clear = TimerThread.shared.set(after: .seconds(60), on: .continuous) { all.settle(false) }
        #expect(await all.value, "\(count.withLock { $0 }) of 1,000 messages")
        clear()
        await server.child.end()
      }
    }

    /// As the library closes the connection, it writes to a socket whose peer is gone.
    @Test func `leaves no SIGPIPE to what its thread does next`() async throws {
      try await withTemporaryDirectory { directory in
        let certificates = try await Certificates(in: directory)
        let server = try await TalkingServer(certificates, in: directory)
        let transport = MQTTTransport(
          host: "localhost", port: Int(server.port), security: .files(authorities: certificates.authority),
          patience: .seconds(60))
        server.say([0x20, 2, 0, 0])
        let isPending = OneShot<Bool>()
        try await transport.connect(will: nil) { event in
          guard case .closed = event else { return }
          // The thread takes the signal, if there is one, or it would end the test at the next connection.
          var (pipe, none) = (sigset_t(), timespec())
          sigemptyset(&pipe)
          sigaddset(&pipe, SIGPIPE)
          isPending.settle(sigtimedwait(&pipe, nil, &none) == SIGPIPE)
        }
        // With bytes that its program has not read, the socket resets the connection as it is closed.
        server.child.signal(SIGSTOP)
        #expect(try await server.child.nextEvent() == .stopped(SIGSTOP))
        transport.publish(LinkMessage(topic: "t", payload: [1], quality: .atMostOnce), number: 1)
        transport.flush()
        await server.child.end()
        #expect(await !isPending.value)
      }
    }
  }
#endif
