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
    case .interrupt where isFromKernel: .interruptKey
    case .stop where isFromKernel: .suspendKey
    default: LifecycleCause(signal: signal)
    }
  }
}

/// The causes that this host's orders have; a program writes the same words as literals.
extension LifecycleCause {
  static let interruptKey: Self = "Ctrl-C"
  static let suspendKey: Self = "Ctrl-Z"

  init(signal: CaughtSignal) { self.init(rawValue: signal.rawValue) }
}
