import Scheduling

/// A message of a service to its manager.
enum ServiceNotice: Sendable, Hashable {
  /// The service is ready, after its start or a reload.
  case ready
  /// The service reads its configuration again.
  case reloading
  /// The service is ending.
  case stopping
  /// A text about the current work of the service.
  case status(String)
  /// The service is alive.
  case watchdog
  /// The service needs this much time from now to start, to read its configuration or to end.
  case extendTimeout(Duration)
  /// This process is the service, instead of the process that the manager started.
  case mainProcess(Int32)

  /// The limit for a status text, in bytes; systemd ignores a datagram of more than 4096 bytes.
  static let statusLimit = 2048

  /// Whether the message reports a state for which the manager waits.
  var isState: Bool {
    switch self {
    case .ready, .reloading, .stopping: true
    case .status, .watchdog, .extendTimeout, .mainProcess: false
    }
  }

  /// Returns the lines of the message in the datagram.
  ///
  /// A reload carries the time of the monotonic clock, by which the manager tells overlapping reloads apart.
  func line(monotonic: Duration) -> String {
    switch self {
    case .ready: "READY=1"
    case .reloading: "RELOADING=1\nMONOTONIC_USEC=\(monotonic.microseconds)"
    case .stopping: "STOPPING=1"
    case .status(let text): "STATUS=" + text.inOneLine.cut(toBytes: Self.statusLimit)
    case .watchdog: "WATCHDOG=1"
    case .extendTimeout(let duration): "EXTEND_TIMEOUT_USEC=\(duration.microseconds)"
    case .mainProcess(let number): "MAINPID=\(number)"
    }
  }
}
