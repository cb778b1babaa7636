import Dispatch
import UnixHost

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Accepts connections on 127.0.0.1 and serves each until its client disconnects or the service ends.
///
/// Clients that send without a pause share the main actor in turns. Turns are short, and small requests, signals and the watchdog's
/// heartbeat come between them. So a thousand greedy clients delay a polite one hardly more than one greedy client does.
@MainActor final class Server {
  struct Failure: Error, CustomStringConvertible {
    let call: String
    let code: Int32

    var description: String { "\(call): \(String(cString: strerror(code)))" }
  }

  /// The port on which the server listens.
  let port: UInt16
  private let greeting: Greeting
  private let listening: any DispatchSourceRead
  private var connections: [ObjectIdentifier: Connection] = [:]
  private var isDraining = false
  /// The largest number of connections, chosen so that the rest of the program never lacks a descriptor.
  private let mostConnections = max(1, Socket.descriptorLimit - 32)
  /// Whether new clients have to wait until a connection ends.
  private var isFull = false
  /// Whether a report of the status to the manager is scheduled.
  private var tellsStatus = false
  /// How many connections are accepted at a time, before other work runs.
  private static let mostAccepted = 64
  /// The connections whose clients send without a pause.
  ///
  /// A turn answers 64 KiB: about a millisecond in a debug build.
  private var busy = TurnQueue<Connection>(limit: 65_536)
  private var isTurnDue = false
  private var buffer = [UInt8](repeating: 0, count: Connection.share)
  private var answer: [UInt8] = []
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
      for _ in 0..<Self.mostAccepted where !isDraining {
        guard connections.count < mostConnections else { return pause() }
        guard let socket = try Socket.accept(from: listener) else { return }
        let connection = Connection(socket, owner: self)
        connections[ObjectIdentifier(connection)] = connection
        tellStatus()
        connection.begin(with: greeting.text)
      }
    } catch {
      pause()
      guard connections.isEmpty else { return }
      // Other processes use up all descriptors, and no event says when they free some.
      Task {
        try? await Task.sleep(for: .seconds(1))
        resume()
      }
    }
  }

  /// Stops watching for new clients until a connection has ended; otherwise the socket would report them again and again.
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

  /// Schedules one report of the status to the manager, for all changes until it runs.
  private func tellStatus() {
    guard !tellsStatus else { return }
    tellsStatus = true
    DispatchQueue.main.async { [self] in
      tellsStatus = false
      let activity = isDraining ? "draining" : "serving"
      ServiceHost.setStatus("\(activity) \(connections.count) connections\(isFull ? ", and is full" : "")")
    }
  }

  /// Stops accepting, and returns when all connections have ended.
  ///
  /// An idle connection ends at once, one in the middle of a line at the end of that line. When the time is up or the task is
  /// cancelled, every connection ends.
  func drain(within limit: Duration) async {
    isDraining = true
    // A suspended source would never be cancelled.
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

extension Server: ConnectionOwner {
  func addToQueue(_ connection: Connection) {
    busy.add(connection)
    scheduleTurn()
  }

  func didEnd(_ connection: Connection) {
    connections[ObjectIdentifier(connection)] = nil
    resume()
    tellStatus()
    if connections.isEmpty {
      whenDrained?.resume()
      whenDrained = nil
    }
  }

  func withBuffers<Result>(_ body: (UnsafeMutableRawBufferPointer, inout [UInt8]) -> Result) -> Result {
    answer.removeAll(keepingCapacity: true)
    return buffer.withUnsafeMutableBytes { body($0, &answer) }
  }

  /// Schedules the next turn, behind the work that waits in the main queue now.
  private func scheduleTurn() {
    guard !isTurnDue, !busy.isEmpty else { return }
    isTurnDue = true
    DispatchQueue.main.async { [self] in takeTurn() }
  }

  private func takeTurn() {
    isTurnDue = false
    busy.beginTurn()
    while let connection = busy.next() { busy.didServe(connection, connection.takeTurn()) }
    scheduleTurn()
  }
}
