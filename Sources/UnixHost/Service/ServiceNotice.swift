/// What a service tells its manager.
enum ServiceNotice: Sendable, Hashable {
  /// The service serves, after its start or a reload.
  case ready
  /// It reads its configuration again.
  case reloading
  /// It ends.
  case stopping
  /// What it does, for people.
  case status(String)
  /// It lives.
  case watchdog
  /// It needs so much longer, from now on, to start, to read its configuration or to end.
  case extendTimeout(Duration)
  /// This process is the service, and not the one that the manager started.
  case mainProcess(Int32)

  /// Whether the manager waits for it.
  var isState: Bool {
    switch self {
    case .ready, .reloading, .stopping: true
    case .status, .watchdog, .extendTimeout, .mainProcess: false
    }
  }

  /// Its lines in the datagram.
  ///
  /// A reload carries the monotonic clock's time: of two that overlap it tells the manager which one is over.
  func line(monotonic: Duration) -> String {
    switch self {
    case .ready: "READY=1"
    case .reloading: "RELOADING=1\nMONOTONIC_USEC=\(monotonic.microseconds)"
    case .stopping: "STOPPING=1"
    // A line feed would begin another field.
    case .status(let text): "STATUS=" + String(text.map { $0.isNewline ? " " : $0 })
    case .watchdog: "WATCHDOG=1"
    case .extendTimeout(let duration): "EXTEND_TIMEOUT_USEC=\(duration.microseconds)"
    case .mainProcess(let number): "MAINPID=\(number)"
    }
  }
}

extension Duration {
  /// Whole microseconds.
  fileprivate var microseconds: Int64 { components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000 }
}
