import LibC
import Scheduling

/// The settings that a service manager passes in the environment of the program.
struct ServiceEnvironment: Sendable, Hashable {
  /// The address at which the manager listens; nil without a manager, or for an unsupported kind of socket.
  var address: NotifySocket.Address?
  /// The number of this process, if the manager is to be told that it is the service.
  var announcedNumber: pid_t?
  /// The time without a ping after which the manager considers the program dead; nil without a watchdog.
  var watchdog: Duration?
  /// The reason why a manager that the environment names receives no messages; nil if it does, or there is none.
  var obstacle: Obstacle?

  /// A reason why the host sends no messages to a manager.
  enum Obstacle: Sendable, Hashable {
    /// The kind of socket is unsupported, or its name is too long.
    case isOutOfReach
    /// The variables were inherited from another process, at a terminal.
    case isForAnotherProcess
    /// The program has privileges of its own.
    case isWithheld
  }

  /// Reads the variables that ``names`` lists.
  ///
  /// - Parameters:
  ///   - facts: this process. A watchdog for another process number was inherited, and is ignored.
  ///   - variable: a closure that looks a variable up.
  init(_ facts: ProcessFacts, _ variable: (String) -> String?) {
    let text = variable("NOTIFY_SOCKET") ?? ""
    guard !text.isEmpty else { return }
    guard facts.isMainProcess(variable) else {
      obstacle = .isForAnotherProcess
      return
    }
    address = NotifySocket.Address(text)
    if address == nil { obstacle = .isOutOfReach }
    announcedNumber = facts.announcedNumber(variable)
    let isOurs = variable("WATCHDOG_PID").map { pid_t($0) == facts.process } ?? true
    let microseconds = variable("WATCHDOG_USEC").flatMap { Int64($0) } ?? 0
    watchdog = isOurs && microseconds > 0 ? .microseconds(microseconds) : nil
  }

  /// The variables that belong to this process alone.
  static let names = ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID", HostKind.variable]

  /// Reads the variables of the process and removes them, because its child processes are not the service.
  static func take() -> ServiceEnvironment {
    defer { for name in names { unsetenv(name) } }
    var environment = ServiceEnvironment(.live, Environment.variable)
    if Environment.isWithheld("NOTIFY_SOCKET") { environment.obstacle = .isWithheld }
    return environment
  }
}
