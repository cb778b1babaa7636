#if MQTT
  import AppLifecycle
  import CMosquitto
  import LibC
  import Scheduling

  /// Carries messages over a broker of MQTT 3.1.1, by libmosquitto; it needs the package trait `MQTT`.
  ///
  /// Each connection has a thread, which serves the library. As a rule it also posts what arrives, and encodes and sends what was posted,
  /// for about a millisecond at a time: then the pool goes on or, if one handler takes longer than a quarter of a second, a new thread
  /// serves the library. Messages are written by the thread that flushes them, as far as the network takes them at once; nothing here
  /// blocks a thread of the pool. The library's session is clean: what a link needs after a break, it asks for itself.
  public final class MQTTTransport: LinkTransport {
    /// How the connection is encrypted.
    public enum Security: Sendable, Hashable {
      /// Not at all: every machine on the way can read and change what is sent.
      case none
      /// TLS, with the certificates that the system trusts: those that OpenSSL finds, or `SSL_CERT_FILE` and `SSL_CERT_DIR` name.
      case system
      /// TLS, with files of one's own: the authorities that are trusted, and the program's certificate and key.
      ///
      /// The key has no passphrase; with one, the attempt to connect fails.
      case files(authorities: String, certificate: String? = nil, key: String? = nil)
    }

    /// The name and password of the program.
    public struct Credentials: Sendable, Hashable {
      /// The user's name.
      public var name: String
      /// The path of a file whose first line is the password; it is read at each connection.
      public var passwordFile: String

      /// Makes credentials.
      ///
      /// - Parameters:
      ///   - name: the user's name.
      ///   - passwordFile: the path of a file whose first line is the password.
      public init(name: String, passwordFile: String) { (self.name, self.passwordFile) = (name, passwordFile) }
    }

    private let host: String
    private let port: Int
    private let security: Security
    private let credentials: Credentials?
    private let keepAlive: Duration
    private let patience: Duration
    /// The longest time that an end in order may take.
    private let farewell: Duration
    private let lookInterval: Duration
    private let connection = Guarded<MQTTConnection?>(nil)

    /// Makes a transport; it does not connect yet.
    ///
    /// - Parameters:
    ///   - host: the broker's name or address.
    ///   - port: its port; nil for 8883 with TLS, and 1883 without.
    ///   - security: how the connection is encrypted.
    ///   - credentials: the program's name and password; nil for none.
    ///   - keepAlive: the time after which the broker is asked for a sign of life, in whole seconds from 5 s to 65,535 s. It takes a
    ///     program for dead, and sends its will, after one and a half times as long.
    ///   - patience: the longest time that a connection and its subscriptions may take.
    public convenience init(
      host: String, port: Int? = nil, security: Security = .none, credentials: Credentials? = nil,
      keepAlive: Duration = .seconds(10), patience: Duration = .seconds(10)
    ) {
      self.init(
        host, port, security, credentials, keepAlive: keepAlive, patience: patience,
        farewell: min(patience, .seconds(2)))
    }

    init(
      _ host: String, _ port: Int?, _ security: Security = .none, _ credentials: Credentials? = nil,
      keepAlive: Duration, patience: Duration, farewell: Duration, lookInterval: Duration? = nil
    ) {
      (self.host, self.security, self.credentials) = (host, security, credentials)
      self.port = port ?? (security == .none ? 1883 : 8883)
      (self.keepAlive, self.patience, self.farewell) = (max(keepAlive, .seconds(5)), patience, farewell)
      self.lookInterval = lookInterval ?? .milliseconds(250)
    }

    deinit { connection.withLock { $0 }?.end(inOrder: false) }

    /// Connects; see ``LinkTransport/connect(will:receive:)``.
    ///
    /// - Parameters:
    ///   - will: the message that the broker sends if the connection ends without ``disconnect()``.
    ///   - receive: called with what happens.
    /// - Throws: ``MQTTError``.
    public func connect(
      will: LinkMessage?, receive: @escaping @Sendable (LinkTransportEvent) -> Void
    ) async throws {
      let password = try credentials.map { try Self.firstLine(of: $0.passwordFile) }
      let settings = MQTTConnection.Settings(
        host: host, port: port, security: security, user: credentials.map { ($0.name, password ?? "") },
        keepAlive: Int(min(keepAlive.components.seconds, 65_535)), lookInterval: lookInterval, will: will)
      let connection = try MQTTConnection(settings, receive)
      var other: MQTTConnection? = connection
      self.connection.withLock { swap(&$0, &other) }
      other?.end(inOrder: false)
      do {
        try await waiting(for: .connected, "the broker’s answer", connection) { try await connection.untilConnected() }
      } catch {
        throw MQTTError("\(host):\(port): \(error)")
      }
    }

    /// Subscribes; see ``LinkTransport/subscribe(to:quality:)``.
    ///
    /// - Parameters:
    ///   - filters: the topics.
    ///   - quality: the most careful quality.
    /// - Throws: ``MQTTError``.
    public func subscribe(to filters: [String], quality: LinkQuality) async throws {
      guard let connection = present else { throw MQTTError("there is no connection") }
      try await waiting(for: .subscribed, "the subscriptions", connection) {
        try await connection.subscribe(to: filters, quality)
      }
    }

    /// Sends a message; see ``LinkTransport/publish(_:number:)``.
    ///
    /// - Parameters:
    ///   - message: the message.
    ///   - number: the number to acknowledge.
    /// - Returns: whether the library has taken it.
    @discardableResult public func publish(_ message: LinkMessage, number: UInt64) -> Bool {
      present?.publish(message, number: number) ?? false
    }

    /// Writes the messages that were published since the last call; see ``LinkTransport/flush()``.
    public func flush() { present?.flush() }

    /// The connection, if there is one.
    var present: MQTTConnection? { connection.withLock { $0 } }

    /// Ends the connection in order, and returns when it has ended, after 2 s at most.
    ///
    /// It takes these 2 s if the broker does not answer, or the connection is still agreeing upon TLS.
    public func disconnect() async {
      guard let connection = connection.withLock({ $0.take() }) else { return }
      connection.end(inOrder: true)
      // A broker that does not read, or does not close, keeps a connection from ending in order. A cancelled task waits, too: what was
      // published must be written, and an end out of order would send the will.
      let clear = TimerThread.shared.set(after: farewell, on: .continuous) {
        connection.end(because: "the broker does not end the connection")
      }
      await connection.untilEnded()
      clear()
    }

    /// Waits for a step of a connection, which is ended if it takes too long.
    private func waiting(
      for step: MQTTConnection.Step, _ what: String, _ connection: MQTTConnection,
      _ body: @Sendable () async throws -> Void
    ) async throws {
      let clear = TimerThread.shared.set(after: patience, on: .continuous) { [patience] in
        connection.end(because: "\(what) did not come within \(patience)", unless: step)
      }
      defer { clear() }
      try await withTaskCancellationHandler(operation: body) { connection.end(because: "the task was cancelled") }
    }

    /// Returns the first line of a file, which may end as on Windows; MQTT knows no password of more than 65,535 bytes.
    static func firstLine(of path: String) throws(MQTTError) -> String {
      guard let file = fopen(path, "re") else { throw MQTTError("the password in \(path) cannot be read") }
      defer { fclose(file) }
      var bytes = [CChar](repeating: 0, count: 65_535 + 3)
      guard fgets(&bytes, Int32(bytes.count), file) != nil else { throw MQTTError("there is no password in \(path)") }
      var line = bytes.prefix { $0 != 0 && $0 != CChar(bitPattern: UInt8(ascii: "\n")) }.map { UInt8(bitPattern: $0) }
      if line.last == UInt8(ascii: "\r") { line.removeLast() }
      guard line.count <= 65_535, let text = String(validating: line, as: UTF8.self) else {
        throw MQTTError("the password in \(path) has more than 65,535 bytes, or is not in UTF-8")
      }
      return text
    }
  }

  /// Why there is no connection to a broker.
  public struct MQTTError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The reason.
    public let description: String

    init(_ description: String) { self.description = description }
  }
#else
  /// Carries messages over a broker of MQTT; it needs the package trait `MQTT`.
  @available(*, unavailable, message: "depend on the package with traits: [\"MQTT\"], which needs libmosquitto")
  public enum MQTTTransport {}
#endif
