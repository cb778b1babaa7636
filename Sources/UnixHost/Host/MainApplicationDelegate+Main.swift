public import AppLifecycle
import LibC

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
  /// The host is a ``ServiceHost`` if the program is the main process of a service manager's unit, if it has no
  /// controlling terminal, or if the delegate is a ``ServiceApplicationDelegate`` and not also a
  /// ``TerminalApplicationDelegate``. Otherwise it is a ``TerminalHost``. ``HostKind`` has all rules, and the environment
  /// variable that chooses the host. If a terminal program runs as a service, it says so at the terminal.
  ///
  /// The method is synchronous and runs a loop of its own (``MainLoop``), so that the main actor stays on the process's
  /// first thread.
  public static func main() { main(host: nil) }

  /// Runs the program in a host that it chooses itself, for example by an argument such as `--daemon`.
  ///
  /// Call it from a `main()` of the delegate, or from `main.swift`:
  ///
  ///     static func main() { main(host: CommandLine.arguments.contains("--daemon") ? .service : nil) }
  ///
  /// - Parameter host: the kind of host; nil for the kind that ``main()`` chooses.
  public static func main(host: HostKind?) {
    MainLoop.run {
      let kind = HostKind.choose(for: Self.self, wanted: host)
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
        // The choice is this program's, not that of the programs that it starts.
        unsetenv(HostKind.variable)
        return await TerminalHost(application: application, configuration: terminal).run()
      case .service:
        let configuration = (Self.self as? any ServiceApplicationDelegate.Type)?.serviceConfiguration
        return await ServiceHost(application: application, configuration: configuration ?? .init()).run()
      }
    }
  }
}
