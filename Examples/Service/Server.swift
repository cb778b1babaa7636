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
  /// How many connections there may be, so that the rest of the program never lacks a descriptor.
  private let mostConnections = max(1, Socket.descriptorLimit - 32)
  /// Whether clients wait until there is room for them.
  private var isFull = false
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
    do throws(Failure) {
      while !isDraining {
        guard connections.count < mostConnections else { return pause() }
        guard let socket = try Socket.accept(from: listener) else { return }
        let connection = Connection(socket) { [weak self] in self?.remove($0) }
        connections[ObjectIdentifier(connection)] = connection
        tellStatus()
        connection.begin(with: greeting.text)
      }
    } catch {
      pause()
      guard connections.isEmpty else { return }
      // It is others who have all there is, and they do not tell when they are done.
      Task {
        try? await Task.sleep(for: .seconds(1))
        resume()
      }
    }
  }

  /// Lets clients wait until a connection has ended: else the socket would say all the time that they are there.
  private func pause() {
    listening.suspend()
    isFull = true
    tellStatus()
  }

  private func resume() {
    guard isFull else { return }
    isFull = false
    listening.resume()
  }

  private func remove(_ connection: Connection) {
    connections[ObjectIdentifier(connection)] = nil
    resume()
    tellStatus()
    if connections.isEmpty {
      whenDrained?.resume()
      whenDrained = nil
    }
  }

  private func tellStatus() {
    let text = "\(isDraining ? "draining" : "serving") \(connections.count) connections\(isFull ? ", and is full" : "")"
    ServiceHost.current?.setStatus(text)
  }

  /// Takes no more connections, and returns when those that it has are over: an idle one at once, one that is in the middle
  /// of a line at its end, every one when the time is up or the task is cancelled.
  func drain(within limit: Duration) async {
    isDraining = true
    // A source that is suspended would never be cancelled.
    resume()
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
