public import AppLifecycle

/// A main delegate that has a say in how the terminal is used.
@MainActor public protocol TerminalApplicationDelegate: MainApplicationDelegate {
  /// How the terminal is used; asked once, before the launch.
  static var terminalConfiguration: TerminalHost.Configuration { get }
}

extension MainApplicationDelegate {
  /// The program, for `@main`: makes the delegate and its application, adopts that as ``Application/shared``, hosts it in the
  /// terminal, and exits with the status of ``TerminalHost/run()``.
  ///
  /// Synchronous, with a loop of its own (``MainLoop``): the main actor stays on the process's first thread.
  public static func main() {
    MainLoop.run {
      let application = Application(delegate: Self())
      Application.adopt(application)
      let configuration = (Self.self as? any TerminalApplicationDelegate.Type)?.terminalConfiguration
      return await TerminalHost(application: application, configuration: configuration ?? .init()).run()
    }
  }
}
