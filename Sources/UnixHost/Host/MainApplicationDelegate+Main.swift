public import AppLifecycle

/// A main delegate that has a say in how the terminal is used.
@MainActor public protocol TerminalApplicationDelegate: MainApplicationDelegate {
  /// How the terminal is used; asked once, before the launch.
  static var terminalConfiguration: TerminalHost.Configuration { get }
}

/// A main delegate of a service, with a say in how it deals with its manager.
///
/// Its program is a service everywhere, also at a terminal, unless it is a ``TerminalApplicationDelegate``, too.
@MainActor public protocol ServiceApplicationDelegate: MainApplicationDelegate {
  /// How the service deals with its manager; asked once, before the launch.
  static var serviceConfiguration: ServiceHost.Configuration { get }
}

extension ServiceApplicationDelegate {
  /// Times that suit most services.
  public static var serviceConfiguration: ServiceHost.Configuration { ServiceHost.Configuration() }
}

extension MainApplicationDelegate {
  /// The program, for `@main`: makes the delegate and its application
  /// (with ``MainApplicationDelegate/configuration``), adopts that as ``Application/shared``, has the delegate
  /// prepare it (``MainApplicationDelegate/prepare(_:)``), hosts it, and exits with the status of ``TerminalHost/run()`` or
  /// ``ServiceHost/run()``.
  ///
  /// The host is a ``ServiceHost`` where a service manager has started the program (`$NOTIFY_SOCKET`), where it has no
  /// controlling terminal, and for a ``ServiceApplicationDelegate``; else a ``TerminalHost``. Where a program for a terminal has no
  /// controlling terminal but a standard stream that is a terminal, it says there that it runs as a service.
  ///
  /// Synchronous, with a loop of its own (``MainLoop``): the main actor stays on the process's first thread.
  public static func main() {
    MainLoop.run {
      let kind = HostKind(Self.self)
      let terminal = (Self.self as? any TerminalApplicationDelegate.Type)?.terminalConfiguration ?? .init()
      // Before the delegate opens a journal for a run that does not take place.
      if kind == .terminal, let obstacle = TerminalHost.obstacle(to: terminal) {
        HostMessage(.error, obstacle).send()
        return ExitStatus.unavailable
      }
      let delegate = Self()
      let application = Application(delegate: delegate, configuration: Self.configuration)
      Application.adopt(application)
      delegate.prepare(application)
      switch kind {
      case .terminal:
        return await TerminalHost(application: application, configuration: terminal).run()
      case .service:
        HostKind.reportMissingTerminal(Self.self)
        let configuration = (Self.self as? any ServiceApplicationDelegate.Type)?.serviceConfiguration
        return await ServiceHost(application: application, configuration: configuration ?? .init()).run()
      }
    }
  }
}
