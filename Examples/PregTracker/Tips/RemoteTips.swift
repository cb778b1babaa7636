import AppLifecycle
import ExampleSupport

/// A tips server on the network: it sends a line to each new connection, and another for each line that it receives.
@MainActor final class RemoteTips: TipsService {
  private let endpoint: Endpoint
  private let retry: RetryPolicy

  init(_ endpoint: Endpoint, retry: RetryPolicy = RetryPolicy()) { (self.endpoint, self.retry) = (endpoint, retry) }

  func connect(_ report: @escaping @MainActor (TipsReport) -> Void) -> any TipsConnection {
    TCPTipsConnection(to: endpoint, retry: retry, report: report)
  }

  func stop() {}
}

/// A TCP connection that is opened again whenever it fails, until it is closed.
@MainActor final class TCPTipsConnection: TipsConnection {
  private var socket: Socket?
  private var task: Task<Void, Never>?

  init(to endpoint: Endpoint, retry: RetryPolicy, report: @escaping @MainActor (TipsReport) -> Void) {
    task = Task { await hold(endpoint, retry, report) }
  }

  func requestTip() { socket?.send("next") }

  func close() async {
    task?.cancel()
    await task?.value
  }

  private func hold(_ endpoint: Endpoint, _ retry: RetryPolicy, _ report: @MainActor (TipsReport) -> Void) async {
    var failures = 0
    while !Task.isCancelled {
      report(.connecting(to: "\(endpoint)"))
      let problem: String
      do {
        let socket = try await Socket.connect(to: endpoint)
        self.socket = socket
        report(.connected(to: "\(endpoint)"))
        var lines = LineBuffer()
        while let bytes = try await socket.read() {
          // The screen would show only the last of several tips that arrive together.
          if let tip = lines.append(bytes).last {
            failures = 0  // it works; a server that accepts and hangs up at once does not get here
            report(.tip(tip))
          }
        }
        problem = "\(endpoint): closed by the server"
      } catch {
        problem = "\(error)"
      }
      socket?.close()
      socket = nil
      guard !Task.isCancelled else { return }
      failures += 1
      let delay = retry.delay(afterFailures: failures, chance: .random(in: 0..<1))
      report(.failed(problem, retryingIn: delay))
      try? await Task.sleep(for: delay)
    }
  }
}
