#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The settings that a service manager passes in the environment of the program.
struct ServiceEnvironment: Sendable, Hashable {
  /// The address at which the manager listens; nil without a manager, or for an unsupported kind of socket.
  var address: NotifySocket.Address?
  /// Whether a manager cannot be reached, because the kind of socket is unsupported or its name is too long.
  var isOutOfReach: Bool
  /// The time without a ping after which the manager considers the program dead; nil without a watchdog.
  var watchdog: Duration?

  /// Reads the variables that ``names`` lists.
  ///
  /// - Parameters:
  ///   - process: the number of this process. A watchdog for another process number was inherited, and is ignored.
  ///   - variable: a closure that looks a variable up.
  init(process: pid_t, _ variable: (String) -> String?) {
    let text = variable("NOTIFY_SOCKET") ?? ""
    address = NotifySocket.Address(text)
    isOutOfReach = address == nil && !text.isEmpty
    let isOurs = variable("WATCHDOG_PID").map { pid_t($0) == process } ?? true
    let microseconds = variable("WATCHDOG_USEC").flatMap { Int64($0) } ?? 0
    watchdog = isOurs && microseconds > 0 ? .microseconds(microseconds) : nil
  }

  /// The variables that belong to this process alone.
  static let names = ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"]

  /// Reads the variables of the process and removes them, because its child processes are not the service.
  static func take() -> ServiceEnvironment {
    defer { for name in names { unsetenv(name) } }
    return ServiceEnvironment(process: getpid()) { getenv($0).map { String(cString: $0) } }
  }
}
