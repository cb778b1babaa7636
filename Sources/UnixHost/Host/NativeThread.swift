import CUnixHost
import Scheduling

/// Threads of the host, which block none of the signals that the host catches.
enum NativeThread {
  /// Runs a body on a new thread; returns false if the system cannot create one.
  static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
    WorkThread.start(named: "lifecycle host") {
      unixhost_signals_unblock()
      body()
    }
  }
}
