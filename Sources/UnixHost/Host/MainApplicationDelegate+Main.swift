public import AppLifecycle

/// A main delegate that configures the terminal host.
@MainActor public protocol TerminalApplicationDelegate: MainApplicationDelegate {
  /// The options of the terminal host; `main()` reads them once, before the launch.
  ///
  /// A `main` of your own passes them to the host itself.
  static var terminalConfiguration: TerminalHost.Configuration { get }
}

/// A main delegate of a service, which configures the service host.
///
/// The program runs as a service even at a terminal, unless the delegate is also a ``TerminalApplicationDelegate``.
@MainActor public protocol ServiceApplicationDelegate: MainApplicationDelegate {
  /// The options of the service host; `main()` reads them once, before the launch.
  ///
  /// A `main` of your own passes them to the host itself.
  static var serviceConfiguration: ServiceHost.Configuration { get }
}

extension ServiceApplicationDelegate {
  /// The default options, which suit most services.
  public static var serviceConfiguration: ServiceHost.Configuration { ServiceHost.Configuration() }
}

extension MainApplicationDelegate {
  /// Runs the program; `@main` before the delegate makes this method its entry point.
  ///
  /// 1. Creates the delegate, and its application with the delegate's `configuration`.
  /// 2. Adopts the application as `Application.shared`.
  /// 3. Calls the delegate's `prepare(_:)`.
  /// 4. Hosts the application, and exits with the status of ``TerminalHost/run()`` or ``ServiceHost/run()``.
  ///
  /// The host is a ``ServiceHost`` if a service manager has started the program (`$NOTIFY_SOCKET`), if the program has
  /// no controlling terminal, or if the delegate is a ``ServiceApplicationDelegate`` and not also a
  /// ``TerminalApplicationDelegate``. Otherwise it is a ``TerminalHost``. If a terminal program has no controlling
  /// terminal, but a standard stream that is a terminal, it prints there that it runs as a service.
  ///
  /// The method is synchronous and runs a loop of its own (``MainLoop``), so that the main actor stays on the process's
  /// first thread.
  public static func main() {
    MainLoop.run {
      let kind = HostKind(Self.self)
      let terminal = (Self.self as? any TerminalApplicationDelegate.Type)?.terminalConfiguration ?? .init()
      // Check this first, so that the delegate does not open a journal for a run that does not begin.
      if kind == .terminal, let obstacle = TerminalHost.obstacle(to: terminal) {
        HostMessage(.error, obstacle).send()
        return ExitStatus.unavailable
      }
      let delegate = Self()
      let application = Application(delegate: delegate)
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
