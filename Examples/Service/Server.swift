import Dispatch
import UnixHost

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Accepts connections on 127.0.0.1 and serves each until its client goes, or the service does.
@MainActor final class Server {
  struct Failure: Error, CustomStringConvertible {
    let call: String
    let code: Int32

    var description: String { "\(call): \(String(cString: strerror(code)))" }
  }

  /// Where it listens.
  let port: UInt16
  private let greeting: Greeting
  private let listening: any DispatchSourceRead
  private var connections: [ObjectIdentifier: Connection] = [:]
  private var isDraining = false
  private var whenDrained: CheckedContinuation<Void, Never>?

  init(port: UInt16, greeting: Greeting) throws(Failure) {
    let listener = try Socket.listen(port: port)
    self.port = Socket.port(of: listener)
    self.greeting = greeting
    listening = DispatchSource.makeReadSource(fileDescriptor: listener, queue: .main)
    listening.setEventHandler { [weak self] in MainActor.assumeIsolated { self?.acceptAll(from: listener) } }
    listening.setCancelHandler { close(listener) }
    listening.activate()
  }

  private func acceptAll(from listener: Int32) {
    while !isDraining, let socket = Socket.accept(from: listener) {
      let connection = Connection(socket) { [weak self] in self?.remove($0) }
      connections[ObjectIdentifier(connection)] = connection
      tellStatus()
      connection.begin(with: greeting.text)
    }
  }

  private func remove(_ connection: Connection) {
    connections[ObjectIdentifier(connection)] = nil
    tellStatus()
    if connections.isEmpty {
      whenDrained?.resume()
      whenDrained = nil
    }
  }

  private func tellStatus() {
    ServiceHost.current?.setStatus("\(isDraining ? "draining" : "serving") \(connections.count) connections")
  }

  /// Takes no more connections, and returns when those that it has are over: an idle one at once, one that is in the middle
  /// of a line at its end, every one when the time is up or the task is cancelled.
  func drain(within limit: Duration) async {
    isDraining = true
    listening.cancel()
    tellStatus()
    for connection in connections.values { connection.finish() }
    let alarm = Task {
      try await Task.sleep(for: limit)
      cut()
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        if connections.isEmpty { continuation.resume() } else { whenDrained = continuation }
      }
    } onCancel: {
      Task { await self.cut() }
    }
    alarm.cancel()
  }

  private func cut() {
    for connection in connections.values { connection.end() }
  }
}
