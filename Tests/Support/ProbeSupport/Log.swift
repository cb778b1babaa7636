package import AppLifecycle
import Dispatch
import Glibc
import PubSub

/// The file that the test reads: one line for each thing that happens, written by one call, so that no line is ever torn.
package struct Log: Sendable {
  private let file: Int32
  private let signal: LineSignal?

  /// A file to append to; without one nothing is written.
  ///
  /// - Parameters:
  ///   - path: the file.
  ///   - signal: what the program sends itself behind a line.
  package init(_ path: String?, signal: LineSignal? = nil) {
    file = path.map { open($0, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600) } ?? -1
    self.signal = signal
  }

  /// Writes a line.
  package func write(_ line: String) {
    guard file >= 0 else { return }
    writeAll(line + "\n", to: file)
    signal?.follow(line)
  }

  /// Writes `suspended by AGENT for N ms` whenever the process was.
  @MainActor package func followSuspensions(of application: Application) {
    application.bus.subscribe(to: Application.WasSuspended.self) { event in
      let milliseconds = Int(event.duration / .milliseconds(1))
      write("suspended by \(event.agent.rawValue) for \(milliseconds) ms")
    }.store(in: &Self.subscriptions)
  }

  /// As long as the program runs.
  @MainActor private static var subscriptions: [EventBus.Subscription] = []
  @MainActor private static var observation: ObserverToken?

  /// Writes all that happens in the application, but inputs; a second call has no effect.
  @MainActor package func follow(_ application: Application) {
    guard Self.observation == nil else { return }
    Self.observation = application.observe { event in
      if let record = event.record, record.kind != .input, record.kind != .ignored { write(record) }
    }
  }

  /// Writes a record as `kind name state cause`.
  private func write(_ record: LifecycleRecord) {
    write("\(record.kind.rawValue) \(record.name) \(record.state.rawValue) \(record.cause.rawValue)")
  }
}

/// Writes a text by one call, without buffers: after a crash it is there.
package func writeAll(_ text: String, to descriptor: Int32) {
  let bytes = Array(text.utf8)
  _ = write(descriptor, bytes, bytes.count)
}

/// A named pipe at which the program waits until the test lets it go on.
package struct Gate: Sendable {
  private let descriptor: Int32

  /// The pipe of this path.
  package init(_ path: String) {
    // For both directions, so that neither side's opening waits for the other.
    descriptor = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
  }

  /// Blocks the calling thread until a byte can be read.
  package func block() {
    var byte: UInt8 = 0
    while read(descriptor, &byte, 1) != 1 {
      var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      poll(&ready, 1, -1)
    }
  }

  /// Waits until a byte can be read, or the task is cancelled.
  package func pass() async {
    // Dispatch's own objects may be used from any thread; its Linux overlay does not say so.
    nonisolated(unsafe) let source = DispatchSource.makeReadSource(fileDescriptor: descriptor)
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        source.setEventHandler { [descriptor] in
          var byte: UInt8 = 0
          if read(descriptor, &byte, 1) == 1 { source.cancel() }
        }
        source.setCancelHandler { continuation.resume() }
        source.activate()
      }
    } onCancel: {
      source.cancel()
    }
  }
}
