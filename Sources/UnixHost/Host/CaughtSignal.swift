import AppLifecycle
import LibC

/// A signal that the host catches, by its name.
package enum CaughtSignal: String, Sendable, CaseIterable {
  /// SIGTERM: end in order.
  case terminate = "SIGTERM"
  /// SIGINT, which Ctrl-C sends: end in order.
  case interrupt = "SIGINT"
  /// SIGQUIT, which Ctrl-\ sends: restore the terminal, and end at once.
  case quit = "SIGQUIT"
  /// SIGHUP: the terminal is gone or about to go; for a service: read the configuration again.
  case hangUp = "SIGHUP"
  /// SIGTSTP, which Ctrl-Z sends: stop.
  case stop = "SIGTSTP"
  /// SIGCONT: the process continues, or another process sent the signal while it ran.
  case `continue` = "SIGCONT"
  /// SIGTTIN: the process read from the terminal in the background.
  case backgroundRead = "SIGTTIN"
  /// SIGTTOU: the process wrote to the terminal, or changed its modes, in the background.
  case backgroundWrite = "SIGTTOU"
  /// SIGWINCH: the terminal's window has another size.
  case windowChange = "SIGWINCH"

  /// The signals that a service catches; the others keep their default action.
  static let ofService: [CaughtSignal] = [.terminate, .interrupt, .quit, .hangUp, .continue]

  /// Creates the signal with a number; returns nil for a signal that the host does not catch.
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

  /// Whether the signal stays ignored if it was ignored when the program was started, for example by `nohup` or a
  /// script's `&`.
  ///
  /// SIGTTIN and SIGTTOU are always caught: if they were ignored, the program could change the terminal while another
  /// job owns it.
  var staysIgnored: Bool {
    switch self {
    case .terminate, .interrupt, .quit, .hangUp, .stop: true
    case .continue, .backgroundRead, .backgroundWrite, .windowChange: false
    }
  }
}
