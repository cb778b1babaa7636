import AppLifecycle

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Which host `@main` starts.
enum HostKind: Sendable, Hashable {
  case terminal
  case service

  /// - Parameters:
  ///   - isForTerminal: the delegate is a ``TerminalApplicationDelegate``.
  ///   - isForService: the delegate is a ``ServiceApplicationDelegate``.
  ///   - hasManager: a service manager has started the program.
  ///   - hasTerminal: the program has a controlling terminal.
  init(isForTerminal: Bool, isForService: Bool, hasManager: Bool, hasTerminal: Bool) {
    // A service that is tried out at a terminal stays one: Ctrl-C ends it, and its log is not a screen.
    self = (isForService && !isForTerminal) || hasManager || !hasTerminal ? .service : .terminal
  }

  /// Says that a program for a terminal runs as a service because it has no controlling terminal, where a person can read it.
  ///
  /// `setsid` starts a program so. Started by a service manager, it has no terminal at all, and nothing is said.
  @MainActor static func reportMissingTerminal(_ delegate: any MainApplicationDelegate.Type) {
    guard !(delegate is any ServiceApplicationDelegate.Type), getenv("NOTIFY_SOCKET") == nil,
      !TerminalDevice.hasControllingTerminal, TerminalDevice.streamAtTerminal != nil
    else { return }
    HostMessage(
      .notice, "there is no controlling terminal: runs as a service; SIGTERM ends it (process \(getpid()))"
    ).send()
  }

  /// For a delegate, in this process's surroundings.
  @MainActor init(_ delegate: any MainApplicationDelegate.Type) {
    self.init(
      isForTerminal: delegate is any TerminalApplicationDelegate.Type,
      isForService: delegate is any ServiceApplicationDelegate.Type,
      hasManager: getenv("NOTIFY_SOCKET") != nil, hasTerminal: TerminalDevice.hasControllingTerminal)
  }
}
