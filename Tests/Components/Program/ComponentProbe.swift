import AppLifecycle
import Components
import Foundation
import NotificationCenterBridge
import PubSub
import Scheduling
import UnixHost

/// A real program with three components that were written for iOS; its argument is the directory of its files.
///
/// What the components send is a line of `server`, written after a third of a second, as by a server that answers slowly.
@main @MainActor final class ComponentProbe {
  private let directory = URL(filePath: CommandLine.arguments.dropFirst().first ?? ".", directoryHint: .isDirectory)
  private var link: NotificationLink?
  private var components: [AnyObject] = []
}

extension ComponentProbe: MainApplicationDelegate {
  func applicationDidFinishLaunching(_ application: Application) {
    link = NotificationCenterBridge(application.bus).postLifecycle(servicesEnterBackground: true)
    let server = Server(directory.appending(path: "server"))
    var configuration = AnalyticsClient.Configuration(file: directory.appending(path: "events"))
    configuration.flushInterval = Environment.variable("FLUSH_INTERVAL").flatMap { TimeInterval($0) } ?? 30
    components = [
      AnalyticsClient(configuration, transport: server),
      ImageCache(directory: directory.appending(path: "images", directoryHint: .isDirectory)),
      RealtimeConnection(channel: "room", socket: Socket(server)),
    ]
    server.write("ready \(ProcessInfo.processInfo.processIdentifier)")
  }
}

/// The other side of the network.
private final class Server: AnalyticsTransport, Sendable {
  private let file: URL
  private let queue = DispatchQueue(label: "server")

  init(_ file: URL) {
    self.file = file
    if !FileManager.default.fileExists(atPath: file.path()) {
      _ = FileManager.default.createFile(atPath: file.path(), contents: nil)
    }
  }

  func write(_ line: String) {
    queue.sync {
      guard let handle = try? FileHandle(forWritingTo: file) else { return }
      _ = try? handle.seekToEnd()
      try? handle.write(contentsOf: Data("\(line)\n".utf8))
      try? handle.close()
    }
  }

  func send(_ batch: [AnalyticsEvent], completion: @escaping @Sendable (Bool) -> Void) {
    DispatchQueue.global().asyncAfter(deadline: .now() + 0.3) { [self] in
      for event in batch { write("event \(event.session.uuidString.prefix(8)) \(event.name)") }
      completion(true)
    }
  }
}

@MainActor private final class Socket: RealtimeSocket {
  private let server: Server

  init(_ server: Server) { self.server = server }

  func open() async throws {}

  func send(_ message: String) async throws {
    try await Task.sleep(for: .milliseconds(300))
    server.write(message)
  }

  func close() {}
}
