import AppLifecycle

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A signal that the host listens to.
enum CaughtSignal: Sendable, Hashable, CaseIterable {
  /// SIGTERM: end, in order.
  case terminate
  /// SIGINT: end, in order. Ctrl-C sends it.
  case interrupt
  /// SIGQUIT: end at once; the terminal is restored, nothing else. Ctrl-\ sends it.
  case quit
  /// SIGHUP: the terminal is gone or about to go; to a service: read the configuration again.
  case hangUp
  /// SIGTSTP: stop. Ctrl-Z sends it.
  case stop
  /// SIGCONT: the process goes on, or was told to although it ran.
  case `continue`
  /// SIGTTIN: the process read from the terminal in the background.
  case backgroundRead
  /// SIGTTOU: the process changed or wrote the terminal in the background.
  case backgroundWrite
  /// SIGWINCH: the terminal's window has another size.
  case windowChange

  /// What a service listens to; the others keep their default action.
  static let ofService: [CaughtSignal] = [.terminate, .interrupt, .quit, .hangUp, .continue]

  /// The signal of this number; nil for one that the host does not listen to.
  init?(number: Int32) {
    guard let signal = Self.allCases.first(where: { $0.number == number }) else { return nil }
    self = signal
  }

  /// The number on this platform.
  var number: Int32 {
    switch self {
    case .terminate: SIGTERM
    case .interrupt: SIGINT
    case .quit: SIGQUIT
    case .hangUp: SIGHUP
    case .stop: SIGTSTP
    case .continue: SIGCONT
    case .backgroundRead: SIGTTIN
    case .backgroundWrite: SIGTTOU
    case .windowChange: SIGWINCH
    }
  }

  /// Whether the signal is left alone if it was ignored when the program was started, as `nohup` and a script's `&` do.
  ///
  /// SIGTTIN and SIGTTOU are caught nevertheless: ignored, they would let the program change the terminal while another
  /// job owns it.
  var staysIgnored: Bool {
    switch self {
    case .terminate, .interrupt, .quit, .hangUp, .stop: true
    case .continue, .backgroundRead, .backgroundWrite, .windowChange: false
    }
  }
}

/// One arrival of a signal.
struct SignalRecord: Sendable, Hashable {
  /// Which signal.
  var signal: CaughtSignal
  /// Whether a key on the terminal or the kernel itself is the sender, and not a process.
  var isFromKernel = false
  /// When the signal arrived, on a clock that never goes back.
  var arrived = Duration.zero
  /// When the host's thread took the record up, on the same clock.
  var taken = Duration.zero

  /// What the application is told as the cause.
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
