import CPseudoTerminal
import Glibc

/// A signalfd of the test, which a program may inherit as a standard stream.
package final class SignalDescriptor: Sendable {
  /// Its number.
  package let number: Int32

  /// Opens a signalfd with one signal.
  package init(for signal: Int32) throws {
    number = cpt_signal_descriptor_open(signal)
    guard number >= 0 else { throw SystemError("signalfd") }
  }

  deinit { close(number) }

  /// The signals that it has, as the kernel writes them.
  package var signals: Substring? {
    get throws {
      try readFile("/proc/self/fdinfo/\(number)").split(separator: "\n").first { $0.hasPrefix("sigmask:") }
    }
  }
}
