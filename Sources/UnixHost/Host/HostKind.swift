import AppLifecycle
import LibC
import Scheduling

/// The kind of host that `@main` starts.
///
/// The first row that applies decides:
///
/// | fact | host |
/// | --- | --- |
/// | the program calls `main(host:)` with a kind | that one |
/// | the environment variable `APP_LIFECYCLE_HOST` is `terminal` or `service` | that one |
/// | the delegate is a ``ServiceApplicationDelegate``, and not also a ``TerminalApplicationDelegate`` | ``ServiceHost`` |
/// | the program has no controlling terminal | ``ServiceHost`` |
/// | `$NOTIFY_SOCKET` is set, and the environment names this process as the unit's main process | ``ServiceHost`` |
/// | otherwise | ``TerminalHost`` |
///
/// The main process of a unit is the one that `$SYSTEMD_EXEC_PID` names, or else `$WATCHDOG_PID`. Without these
/// variables, which older managers do not set, it is a child of process 1. Process 1 of a container always is one. A
/// process for which `$MAINPID` names another process never is: the manager has started it to reload or stop the unit.
public enum HostKind: String, Sendable, Hashable, CaseIterable {
  /// A ``TerminalHost``.
  case terminal
  /// A ``ServiceHost``.
  case service

  /// The environment variable that chooses the kind.
  static let variable = "APP_LIFECYCLE_HOST"

  /// - Parameters:
  ///   - isForTerminal: whether the delegate is a ``TerminalApplicationDelegate``.
  ///   - isForService: whether the delegate is a ``ServiceApplicationDelegate``.
  ///   - isManaged: whether a service manager waits for messages of this process.
  ///   - hasTerminal: whether the program has a controlling terminal.
  init(isForTerminal: Bool, isForService: Bool, isManaged: Bool, hasTerminal: Bool) {
    // A service that runs at a terminal, for a test, still gets a service host: Ctrl-C ends it, and it prints a log
    // without a screen.
    self = (isForService && !isForTerminal) || isManaged || !hasTerminal ? .service : .terminal
  }

  /// Chooses the kind for a delegate in the environment of this process, and reports a choice that may surprise.
  ///
  /// - Parameters:
  ///   - delegate: the type of the delegate.
  ///   - wanted: the kind that the program itself has chosen; nil if it has not.
  /// - Returns: the kind.
  @MainActor static func choose(
    for delegate: any MainApplicationDelegate.Type, wanted: HostKind?
  ) -> HostKind {
    if let wanted { return wanted }
    let text = Environment.variable(variable)
    if let kind = text.flatMap({ HostKind(rawValue: $0) }) { return kind }
    if let text, !text.isEmpty {
      HostMessage(.warning, "$\(variable) is “\(text)”, and not “terminal” or “service”: it has no effect").send()
    }
    let facts = ProcessFacts.live
    let isForService = delegate is any ServiceApplicationDelegate.Type
    let isManaged =
      Environment.variable("NOTIFY_SOCKET")?.isEmpty == false
      && facts.isMainProcess(Environment.variable)
    let kind = HostKind(
      isForTerminal: delegate is any TerminalApplicationDelegate.Type, isForService: isForService,
      isManaged: isManaged, hasTerminal: facts.hasTerminal)
    if kind == .service, !isForService { reportSurprise(facts, isManaged: isManaged) }
    return kind
  }

  /// Reports, to a user at a terminal, that the program runs as a service.
  ///
  /// `setsid` starts a program without a controlling terminal, but with a standard stream that is one. A program that a
  /// service manager has started has no terminal at all, and reports nothing.
  private static func reportSurprise(_ facts: ProcessFacts, isManaged: Bool) {
    if facts.hasTerminal {
      HostMessage(
        .notice,
        "the program runs as a service, because $NOTIFY_SOCKET is set and this is the unit's main process; "
          + "\(variable)=terminal chooses the terminal"
      ).send()
    } else if !isManaged, let missing = TerminalDevice.missing, TerminalDevice.streamAtTerminal != nil {
      HostMessage(
        .notice, "\(missing.reason), the program runs as a service; SIGTERM ends it (process \(getpid()))"
      ).send()
    }
  }
}

/// The facts about this process that say whether it is the main process of a service manager's unit.
struct ProcessFacts: Sendable, Hashable {
  /// The number of the process.
  var process: pid_t
  /// The number of its parent; 0 if the parent is outside the process's container.
  var parent: pid_t
  /// Whether it has a controlling terminal.
  var hasTerminal: Bool

  /// The facts of this process.
  static var live: ProcessFacts {
    ProcessFacts(process: getpid(), parent: getppid(), hasTerminal: TerminalDevice.missing == nil)
  }

  /// Whether a service manager's variables are meant for this process, and not inherited from another one.
  ///
  /// A shell inherits them from the service under which it runs, and so does everything that a user starts in it.
  /// Without a terminal they count, because a wrapper script may be the unit's main process, or a container's init.
  ///
  /// - Parameter variable: a closure that looks a variable up.
  /// - Returns: true if they are.
  func isMainProcess(_ variable: (String) -> String?) -> Bool {
    if names("MAINPID", variable) == false { return false }
    if !hasTerminal || process == 1 || variable(HostKind.variable) == HostKind.service.rawValue { return true }
    return names("SYSTEMD_EXEC_PID", variable) ?? names("WATCHDOG_PID", variable) ?? (parent == 1)
  }

  /// The number to announce to the service manager as that of the unit's main process.
  ///
  /// The manager reads it in its own PID namespace, where it may mean another process, which the manager would then watch
  /// instead. If the process that the manager has started is no ancestor of this one, it is outside the namespace.
  ///
  /// - Parameters:
  ///   - variable: a closure that looks a variable up.
  ///   - ancestors: returns the parent's number, that of its parent and so on, as far as they are visible; called only behind a
  ///     wrapper, because it reads files.
  /// - Returns: the number; nil if the manager knows it, or would take it for another process.
  func announcedNumber(
    _ variable: (String) -> String?, ancestors: () -> [pid_t] = { ProcessTree.live.ancestors(of: getpid()) }
  ) -> pid_t? {
    if process == 1 || names("WATCHDOG_PID", variable) == true { return nil }
    guard let started = variable("SYSTEMD_EXEC_PID").flatMap({ pid_t($0) }) else { return process }
    return started != process && ancestors().contains(started) ? process : nil
  }

  /// Whether a variable is the number of this process; nil if it is no number.
  private func names(_ name: String, _ variable: (String) -> String?) -> Bool? {
    variable(name).flatMap { pid_t($0) }.map { $0 == process }
  }
}
