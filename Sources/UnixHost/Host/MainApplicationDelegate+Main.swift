public import AppLifecycle

/// A main delegate that configures the terminal host.
@MainActor public protocol TerminalApplicationDelegate: MainApplicationDelegate {
  /// How the terminal is used; asked once, before the launch.
  static var terminalConfiguration: TerminalHost.Configuration { get }
}

/// A main delegate of a service, which configures the service host.
///
/// The program is a service everywhere, also at a terminal, unless the delegate is a ``TerminalApplicationDelegate``, too.
@MainActor public protocol ServiceApplicationDelegate: MainApplicationDelegate {
  /// How the service deals with its manager; asked once, before the launch.
  static var serviceConfiguration: ServiceHost.Configuration { get }
}

extension ServiceApplicationDelegate {
  /// Times that suit most services.
  public static var serviceConfiguration: ServiceHost.Configuration { ServiceHost.Configuration() }
}

extension MainApplicationDelegate {
  /// Runs the program: `@main` before the delegate calls this.
  ///
  /// 1. Makes the delegate, and its application with the delegate's `configuration`.
  /// 2. Adopts the application as `Application.shared`.
  /// 3. Calls the delegate's `prepare(_:)`.
  /// 4. Hosts the application, and exits with the status of ``TerminalHost/run()`` or ``ServiceHost/run()``.
  ///
  /// The host is a ``ServiceHost`` if a service manager has started the program (`$NOTIFY_SOCKET`), if the program has no controlling
  /// terminal, or if the delegate is a ``ServiceApplicationDelegate``; else a ``TerminalHost``. A program for a terminal that has no
  /// controlling terminal, but a standard stream that is a terminal, writes there that it runs as a service.
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
