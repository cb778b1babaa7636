import AppLifecycle

#if MQTT
  import EventLink
  import PubSub
  import UnixHost
#endif

/// `lifecycle fleet`: shows the processes that announce their life cycle at a broker, as they change.
struct FleetCommand: Action {
  var host = ""
  var port: Int?
  var filter = "#"
  var isJSON = false
  var usesTLS = false
  var user: String?
  var passwordFile: String?

  init(_ arguments: inout Arguments) throws(UsageError) {
    while let option = try arguments.nextOption() {
      switch option {
      case "--broker": try setBroker(try arguments.value(of: option, "the broker’s HOST or HOST:PORT"))
      case "--tls": usesTLS = true
      case "--user": user = try arguments.value(of: option, "a name")
      case "--password-file": passwordFile = try arguments.value(of: option, "a file")
      default: isJSON = true
      }
    }
    let filters = arguments.operands
    guard filters.count < 2 else { throw UsageError("'fleet' takes one topic, not '\(filters[1])', too") }
    guard !host.isEmpty else { throw UsageError("'fleet' needs --broker HOST[:PORT]") }
    guard (user == nil) == (passwordFile == nil) else { throw UsageError("--user and --password-file belong together") }
    if let only = filters.first { filter = only }
  }

  /// Reads `host`, `host:port`, `[address]` or `[address]:port`.
  private mutating func setBroker(_ text: String) throws(UsageError) {
    var (name, rest) = (Substring(text), Substring())
    if text.hasPrefix("["), let end = text.firstIndex(of: "]") {
      (name, rest) = (text[text.index(after: text.startIndex)..<end], text[text.index(after: end)...])
    } else if let colon = text.lastIndex(of: ":"), text.firstIndex(of: ":") == colon {
      // An address of IPv6 without brackets has no port.
      (name, rest) = (text[..<colon], text[colon...])
    }
    (host, port) = (String(name), nil)
    guard !rest.isEmpty else { return }
    guard rest.hasPrefix(":"), let number = UInt16(rest.dropFirst()), number > 0 else {
      throw UsageError("'\(text)' is not HOST or HOST:PORT")
    }
    port = Int(number)
  }

  #if MQTT
    func run() async throws -> ExitStatus {
      var configuration = Application.Configuration()
      configuration.retry = RetryPolicy(longest: .seconds(5))
      let application = Application(delegate: FleetDelegate(), configuration: configuration)
      Application.adopt(application)
      let credentials = user.map { MQTTTransport.Credentials(name: $0, passwordFile: passwordFile ?? "") }
      let transport = MQTTTransport(
        host: host, port: port, security: usesTLS ? .system : .none, credentials: credentials)
      let fleet = Fleet()
      let link: EventLink
      do {
        link = try EventLink(of: application, to: transport) { try $0.follow(fleet, on: filter) }
      } catch let error as LinkError {
        throw UsageError("\(error)")
      }
      try application.manage("broker", while: .running) {
        try await link.open()
      } run: {
        try await link.run()
      } release: {
        await link.close()
      }
      if isJSON || Terminal.width == nil || TerminalHost.obstacle(to: TerminalHost.Configuration()) != nil {
        let lines = FleetLines(isJSON: isJSON, application)
        await application.handle(.launch)
        let failure = await lines.failureOfOutput()
        await application.handle(.shutDown)
        throw failure
      }
      let screen = FleetScreen(fleet, at: host, application)
      let status = await TerminalHost(application: application).run()
      withExtendedLifetime(screen) {}
      return ExitStatus(rawValue: status)
    }
  #else
    func run() throws -> ExitStatus {
      try StandardStreams.write(
        "lifecycle: this build cannot speak to brokers; build it with --traits MQTT, which needs libmosquitto\n",
        to: .error)
      return .unavailable
    }
  #endif
}

#if MQTT
  @MainActor private final class FleetDelegate: ApplicationDelegate {}
#endif
