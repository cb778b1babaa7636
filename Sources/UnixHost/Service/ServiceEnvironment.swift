#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// What a service manager says in the environment of the program that it starts.
struct ServiceEnvironment: Sendable, Hashable {
  /// The address at which the manager listens; nil without a manager, or for a kind of socket that is not known here.
  var address: NotifySocket.Address?
  /// Whether a manager cannot be reached: it listens at such a socket, or its name is too long for one.
  var isOutOfReach: Bool
  /// After so long without a ping the manager takes the program for dead; nil where it does not look.
  var watchdog: Duration?

  /// Reads the variables that ``names`` lists.
  ///
  /// - Parameters:
  ///   - process: this process's number. A watchdog that is another's, inherited by a child, is not ours to feed.
  ///   - variable: looks a variable up.
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

  /// Reads the process's own variables and takes them away: its children are not the service.
  static func take() -> ServiceEnvironment {
    defer { for name in names { unsetenv(name) } }
    return ServiceEnvironment(process: getpid()) { getenv($0).map { String(cString: $0) } }
  }
}
