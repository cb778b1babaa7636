import AppLifecycle
import ExampleSupport
import PubSub

/// Holds the connection to the tips server exactly while the program is in the foreground.
///
/// A process that the system stops keeps its sockets open, so its peer would wait in vain.
@MainActor final class ConnectionManager {
  struct DidChange: MainActorEvent {
    let tip: String
    let status: String
  }

  private var tip = ""
  private var status = "not connected"
  private var connection: ManagedResource<any TipsConnection>?
  private let bus: EventBus

  init(application: Application, service: @escaping @MainActor () throws -> any TipsService) throws(ResourceError) {
    bus = application.bus
    let server = try application.manage("tips server", while: .running) {
      do {
        return try service()
      } catch {
        self.tell("no tips server: \(error)")
        throw error  // and the application tries again after a while
      }
    } release: {
      await $0.stop()
    }
    // Opened once the server runs, after willEnterForeground. Closed within didEnterBackground, before the server.
    connection = try application.manage("tips connection", while: .foreground, after: server) { server in
      server.connect { self.take($0) }
    } release: {
      await $0.close()
      self.tell("not connected")
    }
  }

  func requestTip() { connection?.current?.requestTip() }

  private func take(_ report: TipsReport) {
    switch report {
    case .connecting(let peer): tell("connecting to \(peer) …")
    case .connected(let peer): tell("connected to \(peer)")
    case .failed(let problem, let delay): tell("\(problem); trying again in \(delay.rounded)")
    case .tip(let tip):
      self.tip = tip
      tell(nil)
    }
  }

  private func tell(_ newStatus: String?) {
    status = newStatus ?? status
    bus.post(DidChange(tip: tip, status: status), from: self)
  }
}
