// A checkout of several processes, over a broker on this machine: `mosquitto &`, then in a terminal each
// `swift run --traits MQTT Fleet coordinator`, `… Fleet worker 1`, `… Fleet worker 2` and `… Fleet display`.

import AppLifecycle
import EventLink
import ExampleSupport
import PubSub
import UnixHost

/// The program: one of its parts, as its first argument says.
@main @MainActor final class FleetApp {
  private var part: AnyObject?

  /// The arguments: the part, for a worker its number, and the port of the broker on this machine.
  private static let arguments = Array(CommandLine.arguments.dropFirst())

  static func main() { main(host: arguments.first == "display" ? .terminal : .service) }
}

extension FleetApp: MainApplicationDelegate {
  static var configuration: Application.Configuration {
    var configuration = Application.Configuration()
    configuration.retry = RetryPolicy(first: .milliseconds(100), longest: .seconds(2))
    return configuration
  }

  func applicationDidFinishLaunching(_ application: Application) {
    do {
      guard let transport = Self.transport else {
        StandardError.writeLine("This example needs the package trait MQTT: swift run --traits MQTT Fleet …")
        return application.shutDown(status: 69)
      }
      switch Self.arguments.first {
      case "coordinator": part = try Coordinator(application, transport)
      case "worker": part = try Worker(Self.arguments.dropFirst().first ?? "1", application, transport)
      case "display": part = try Display(application, transport)
      default:
        StandardError.writeLine("usage: Fleet coordinator | worker NUMBER | display [--port PORT]")
        application.shutDown(status: 64)
      }
    } catch {
      StandardError.writeLine("Fleet: \(error)")
      application.shutDown(status: 70)
    }
  }

  private static var transport: (any LinkTransport)? {
    #if MQTT
      let place = arguments.firstIndex(of: "--port").map { $0 + 1 } ?? arguments.endIndex
      let port = place < arguments.endIndex ? Int(arguments[place]) : nil
      return MQTTTransport(host: "127.0.0.1", port: port, keepAlive: .seconds(5))
    #else
      return nil
    #endif
  }
}

extension EventLink {
  /// Makes the link a resource of its application, which connects it again when it breaks.
  @MainActor func manage(in application: Application, while phase: LifecyclePhase) throws -> ManagedResource<Void> {
    try application.manage("broker", while: phase) { [self] in
      try await open()
    } run: { [self] in
      try await run()
    } release: { [self] in
      await close()
    }
  }
}
