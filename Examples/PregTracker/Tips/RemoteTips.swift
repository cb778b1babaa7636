/// A tips server somewhere: sends a line as soon as one connects, and another for each line that it receives.
@MainActor final class RemoteTips: TipsService {
  private let endpoint: Endpoint

  init(_ endpoint: Endpoint) { self.endpoint = endpoint }

  func connect(_ report: @escaping @MainActor (TipsReport) -> Void) -> any TipsConnection {
    TCPTipsConnection(to: endpoint, report: report)
  }

  func stop() {}
}

/// A TCP connection that is opened again whenever it fails, until it is closed.
@MainActor final class TCPTipsConnection: TipsConnection {
  private var socket: Socket?
  private var task: Task<Void, Never>?

  init(to endpoint: Endpoint, report: @escaping @MainActor (TipsReport) -> Void) {
    task = Task { await hold(endpoint, report) }
  }

  func requestTip() { socket?.send("next") }

  func close() async {
    task?.cancel()
    await task?.value
  }

  private func hold(_ endpoint: Endpoint, _ report: @MainActor (TipsReport) -> Void) async {
    var backoff = Backoff()
    while !Task.isCancelled {
      report(.connecting(to: "\(endpoint)"))
      let problem: String
      do {
        let socket = try await Socket.connect(to: endpoint)
        self.socket = socket
        report(.connected(to: "\(endpoint)"))
        var lines = LineBuffer()
        while let bytes = try await socket.read() {
          for line in lines.append(bytes) {
            backoff = Backoff()  // it works; one that accepts and hangs up at once does not get here
            report(.tip(line))
          }
        }
        problem = "\(endpoint): closed by the server"
      } catch {
        problem = "\(error)"
      }
      socket?.close()
      socket = nil
      guard !Task.isCancelled else { return }
      let delay = backoff.next()
      report(.failed(problem, retryingIn: delay))
      try? await Task.sleep(for: delay)
    }
  }
}
