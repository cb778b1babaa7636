import AppLifecycle

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The kind of host that `@main` starts.
enum HostKind: Sendable, Hashable {
  case terminal
  case service

  /// - Parameters:
  ///   - isForTerminal: whether the delegate is a ``TerminalApplicationDelegate``.
  ///   - isForService: whether the delegate is a ``ServiceApplicationDelegate``.
  ///   - hasManager: whether a service manager has started the program.
  ///   - hasTerminal: whether the program has a controlling terminal.
  init(isForTerminal: Bool, isForService: Bool, hasManager: Bool, hasTerminal: Bool) {
    // A service that runs at a terminal, for a test, still gets a service host: Ctrl-C ends it, and it prints a log
    // without a screen.
    self = (isForService && !isForTerminal) || hasManager || !hasTerminal ? .service : .terminal
  }

  /// Reports, if a standard stream is a terminal, that the program runs as a service because it has no controlling
  /// terminal.
  ///
  /// `setsid` starts a program in this way. A program that a service manager has started has no terminal at all, and
  /// reports nothing.
  @MainActor static func reportMissingTerminal(_ delegate: any MainApplicationDelegate.Type) {
    guard !(delegate is any ServiceApplicationDelegate.Type), getenv("NOTIFY_SOCKET") == nil,
      let missing = TerminalDevice.missing, TerminalDevice.streamAtTerminal != nil
    else { return }
    HostMessage(
      .notice, "\(missing.reason), the program runs as a service; SIGTERM ends it (process \(getpid()))"
    ).send()
  }

  /// Chooses the kind for a delegate in the environment of this process.
  @MainActor init(_ delegate: any MainApplicationDelegate.Type) {
    self.init(
      isForTerminal: delegate is any TerminalApplicationDelegate.Type,
      isForService: delegate is any ServiceApplicationDelegate.Type,
      hasManager: getenv("NOTIFY_SOCKET") != nil, hasTerminal: TerminalDevice.missing == nil)
  }
}
