import AppLifecycle
import ExampleSupport
import PubSub

/// Watches a server over one connection, and repeats all that the connection needs whenever it is made anew.
///
/// | resource | held while | after | what it is |
/// | --- | --- | --- | --- |
/// | connection | the program runs | | a socket, a loop that reads it, and a `PING` now and then |
/// | session | the program runs | connection | what the server was told, such as `CONFIG SET …` |
/// | subscription | the program is in the foreground | session | what the server says unasked |
@MainActor final class ServerMonitor {
  /// The server has said something unasked.
  struct DidReceive: MainActorEvent { let message: String }

  let connection: ManagedResource<Client>

  /// Begins to watch.
  ///
  /// - Parameters:
  ///   - application: holds the connection and what depends on it.
  ///   - options: which server, and what to tell it.
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
