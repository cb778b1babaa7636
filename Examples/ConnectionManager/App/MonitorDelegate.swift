// A monitor of a Redis server, or of any server that answers lines: `swift run ConnectionManager 127.0.0.1:6379`. Stop the
// server, start it again, and watch the program reconnect. Ctrl-Z, `fg`, and `q` to quit.

import AppLifecycle
import ExampleSupport
import Glibc
import PubSub
import UnixHost

@main @MainActor final class MonitorDelegate {
  private let options: Options
  private let connect: @MainActor () async throws -> any Transport
  private var monitor: ServerMonitor?
  private var view: MonitorView?

  convenience init() {
    let options = Options.ofCommandLine()
    self.init(options) { try await Socket.connect(to: options.server) }
  }

  /// - Parameters:
  ///   - options: the options of the command line.
  ///   - connect: opens a connection to the server.
  init(_ options: Options, connect: @escaping @MainActor () async throws -> any Transport) {
    (self.options, self.connect) = (options, connect)
  }
}

extension MonitorDelegate: MainApplicationDelegate {
  func applicationDidFinishLaunching(_ application: Application) {
    view = MonitorView(application: application, server: "\(options.server)") { [weak self, weak application] command in
      switch command {
      case .quit: application?.send(.terminate, cause: "q")
      case .retry: self?.monitor?.connection.retry()
      }
    }
    do {
      monitor = try ServerMonitor(application: application, options: options, connect: connect)
    } catch {
      preconditionFailure("\(error)")  // two resources of one name: a mistake in this program
    }
  }
}
