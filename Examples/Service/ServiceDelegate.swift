// A small daemon: it counts the words of each line that it is sent. `swift run Service --port 7000`, then `nc 127.0.0.1 7000`.
// Under systemd: Type=notify-reload, WatchdogSec=30, ExecStart=/path/to/Service --port 7000.

import AppLifecycle
import PubSub
import UnixHost

@main @MainActor final class ServiceDelegate {
  private let options = Options(CommandLine.arguments.dropFirst())
  private lazy var greeting = Greeting(path: options.greetingPath)
}

extension ServiceDelegate: ServiceApplicationDelegate {
  func applicationWillFinishLaunching(_ application: Application) {
    do {
      // The manager is told that the service is ready once the port is open. One that is taken is tried again.
      try application.manage("server", while: .running) { [options, greeting] in
        let server = try Server(port: options.port, greeting: greeting)
        writeLine("listening on port \(server.port)")
        return server
      } release: { [options] server in
        await server.drain(within: options.drainTime)
      }
    } catch {
      writeLine("\(error)")
    }
    application.bus.subscribe(self, to: ServiceHost.Reload.self) { delegate, _ in delegate.greeting.read() }
  }
}
