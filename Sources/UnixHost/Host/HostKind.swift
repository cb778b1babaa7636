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

  /// For a delegate, in this process's surroundings.
  @MainActor init(_ delegate: any MainApplicationDelegate.Type) {
    let terminal = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)
    // Whether there is none, or it cannot be opened now, is another question, and the terminal's host will ask it.
    let hasTerminal = terminal >= 0 || errno == EMFILE || errno == ENFILE
    if terminal >= 0 { close(terminal) }
    self.init(
      isForTerminal: delegate is any TerminalApplicationDelegate.Type,
      isForService: delegate is any ServiceApplicationDelegate.Type,
      hasManager: getenv("NOTIFY_SOCKET") != nil, hasTerminal: hasTerminal)
  }
}
