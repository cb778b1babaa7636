import AppLifecycle
import ExampleSupport
import PubSub

/// Watches a server over one connection.
///
/// Each new connection gets the session's commands and the subscription again.
///
/// | resource | held while | after | what it is |
/// | --- | --- | --- | --- |
/// | connection | the program runs | | a socket, a loop that reads it, and a `PING` now and then |
/// | session | the program runs | connection | the settings on the server, such as `CONFIG SET …` |
/// | subscription | the program is in the foreground | session | the server's pushes |
@MainActor final class ServerMonitor {
  /// The server has sent a push.
  struct DidReceive: MainActorEvent { let message: String }

  let connection: ManagedResource<Client>

  /// Starts to watch the server.
  ///
  /// - Parameters:
  ///   - application: the application that manages the connection and the resources that depend on it.
  ///   - options: the server, and the commands to send it.
  ///   - connect: opens a connection to the server.
  /// - Throws: ``ResourceError`` if the application manages resources of these names already.
  init(
    application: Application, options: Options, connect: @escaping @MainActor () async throws -> any Transport
  ) throws(ResourceError) {
    connection = try application.manage(
      "connection", while: .running, retry: options.retry, checkEvery: options.checkInterval
    ) {
      let lease = ResourceLease.current
      return Client(try await connect()) { lease?.invalidate(because: $0) }
    } run: { client in
      try await client.run()
    } check: { client in
      try await client.ask("PING")
    } release: { client in
      client.close()
    }
    let session = try application.manage("session", while: .running, after: connection) { client in
      for command in options.session { try await client.ask(command) }
      return client
    } release: { _ in
    }
    let subscription = try application.manage("subscription", while: .foreground, after: session) { client in
      try await Subscription.begin(options.subscribe, on: client)
    } release: { subscription in
      subscription.end()
    }
    application.run(self, while: .foreground, after: subscription) { [bus = application.bus] monitor, subscription in
      while true { bus.post(DidReceive(message: try await subscription.next()), from: monitor) }
    }
  }
}
