import AppLifecycle
import ExampleSupport

/// The program's own tips server, on a port that only this machine can reach: a real connection without a real network.
@MainActor final class LocalTips: TipsService {
  let endpoint: Endpoint
  private let listener: Socket
  private var task: Task<Void, Never>?
  private var sent = 0

  init() throws(SystemError) {
    (listener, endpoint) = try Socket.listenOnLoopback()
    task = Task { await serve() }
  }

  func connect(_ report: @escaping @MainActor (TipsReport) -> Void) -> any TipsConnection {
    TCPTipsConnection(to: endpoint, retry: RetryPolicy(), report: report)
  }

  func stop() async {
    task?.cancel()
    await task?.value
    listener.close()
  }

  private func serve() async {
    await withDiscardingTaskGroup { clients in
      while let client = await nextClient() {
        clients.addTask { await self.serve(client) }
      }
      clients.cancelAll()
    }
  }

  private func nextClient() async -> Socket? {
    while !Task.isCancelled {
      do {
        return try await listener.accept()
      } catch {
        // The process may be out of descriptors. Without the pause this loop would take a whole core.
        try? await Task.sleep(for: .seconds(1))
      }
    }
    return nil
  }

  private func serve(_ client: Socket) async {
    defer { client.close() }
    client.send(nextTip())
    var requests = LineBuffer()
    while let bytes = try? await client.read() {
      for _ in requests.append(bytes) { client.send(nextTip()) }
    }
  }

  private func nextTip() -> String {
    defer { sent += 1 }
    return Tips.all[sent % Tips.all.count]
  }
}
