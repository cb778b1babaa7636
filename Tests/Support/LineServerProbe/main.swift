import AppLifecycle
import ProbeSupport
import UnixHost

// The server of the article on services, with sockets of the loopback and clients that trap if they are dropped without a run.
//
// `--log PATH`: the file that the test reads. `--port PORT`: the port it has reserved. `--channels`: each client is wrapped in the double of a NIOAsyncChannel.

extension LineServer {
  /// The budget is the test's patience, on a machine of any speed.
  static var configuration: Application.Configuration {
    var configuration = Application.Configuration()
    configuration.willTerminateBudget = .seconds(600)
    return configuration
  }
}

LineServer.main()
