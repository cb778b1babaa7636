import AppLifecycle

/// The arrival of a signal.
struct SignalRecord: Sendable, Hashable {
  /// The signal that arrived.
  var signal: CaughtSignal
  /// Whether the kernel sent the signal, for example for a key on the terminal; false if a process sent it.
  var isFromKernel = false
  /// The time when the signal arrived, by a monotonic clock.
  var arrived = Duration.zero
  /// The time when the host's thread read the record, by the same clock.
  var taken = Duration.zero

  /// The cause that the application receives.
  var cause: LifecycleCause {
    switch signal {
    case .terminate: "SIGTERM"
    case .interrupt: isFromKernel ? "Ctrl-C" : "SIGINT"
    case .quit: "SIGQUIT"
    case .hangUp: "SIGHUP"
    case .stop: isFromKernel ? "Ctrl-Z" : "SIGTSTP"
    case .continue: "SIGCONT"
    case .backgroundRead: "SIGTTIN"
    case .backgroundWrite: "SIGTTOU"
    case .windowChange: "SIGWINCH"
    }
  }
}
