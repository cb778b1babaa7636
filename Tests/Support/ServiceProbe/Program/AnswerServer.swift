import AppLifecycle
import Glibc
import ProbeSupport
import UnixHost

/// A server on the socket that the service manager has passed: it sends each client its bytes back, one client after another.
final class AnswerServer: Sendable {
  /// What a client sends and receives.
  static let count = 8

  private let listener: Int32
  /// Its write end is closed when the server must stop.
  private let stop: (reader: Int32, writer: Int32)

  init(_ socket: ActivationSocket) throws {
    listener = try socket.duplicate()
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0 else { throw Refused() }
    stop = (ends[0], ends[1])
  }

  /// Serves until ``finish()``; a client that was accepted is served to its end.
  func run() async {
    await withPhaseClosingHandler {
      await withCheckedContinuation { continuation in
        startThread {
          while let client = self.accept() { Self.serve(client) }
          continuation.resume()
        }
      }
    } onClose: {
      self.finish()
    }
  }

  private func finish() { close(stop.writer) }

  /// Closes the socket, and lets it listen on for the next process.
  func closeSocket() {
    close(listener)
    close(stop.reader)
  }

  private func accept() -> Int32? {
    while true {
      var waiting = [
        pollfd(fd: stop.reader, events: 0, revents: 0), pollfd(fd: listener, events: Int16(POLLIN), revents: 0),
      ]
      guard poll(&waiting, 2, -1) > 0 else { continue }
      guard waiting[0].revents == 0 else { return nil }
      let client = Glibc.accept(listener, nil, nil)
      if client >= 0 { return client }
    }
  }

  private static func serve(_ client: Int32) {
    defer { close(client) }
    var buffer = [UInt8](repeating: 0, count: count)
    var received = 0
    while received < count {
      let more = buffer.withUnsafeMutableBytes { read(client, $0.baseAddress! + received, count - received) }
      guard more > 0 else { return }
      received += more
    }
    _ = write(client, buffer, count)
  }
}

extension AnswerServer {
  /// Manages the server, and writes what the manager has passed.
  @MainActor static func manage(in application: Application, log: Log) {
    for socket in ActivationSocket.all { log.write("socket \(socket.name)") }
    guard let socket = ActivationSocket.all.first else { return }
    do {
      try application.manage("listener", while: .running) {
        try AnswerServer(socket)
      } run: {
        await $0.run()
      } release: {
        $0.closeSocket()
      }
    } catch {
      fatalError("\(error)")
    }
  }
}
