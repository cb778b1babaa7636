import AppLifecycle
import UnixHost

// The listing on a server in Sources/UnixHost/UnixHost.docc/ASystemdService.md, word for word. The tests of the page compile it with doubles,
// and LineServerProbe with sockets.

@MainActor final class LineServer {
  var listener: ManagedResource<Listener>?
}

extension LineServer: ServiceApplicationDelegate {
  func applicationDidFinishLaunching(_ application: Application) {
    do {
      let listener = try application.manage("listener", while: .running) {
        try Listener(port: 7000)
      } release: {
        $0.close()
      }
      self.listener = listener
      application.run(self, while: .running, after: listener, label: "accept") {
        [weak application] server, listener in
        await withPhaseClosingHandler {
          for await client in listener.clients {
            if let application { server.serve(client, in: application) }
          }
        } onClose: {
          listener.stop()
        }
      }
    } catch {
      // A mistake in the program, such as two resources of one name.
      preconditionFailure("\(error)")
    }
  }

  private func serve(_ client: LineClient, in application: Application) {
    guard let listener else { return }
    application.run(
      client, while: .running, after: listener, label: "client \(client.name)"
    ) { client, _ in
      await withPhaseClosingHandler {
        await client.serve()
      } onClose: {
        client.finishLine()
      }
    }
  }
}
