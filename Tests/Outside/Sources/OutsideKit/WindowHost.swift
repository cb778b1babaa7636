import AppLifecycle
import UnixHost

/// A host outside of the library: it translates what happens to a window into inputs of an application.
@MainActor public final class WindowHost {
  /// What happens to the window.
  public enum Event: String, Sendable, CaseIterable {
    case focusLost, focusGained, hidden, shown, closed
  }

  /// The application whose window it is.
  public let application: Application

  /// A host for an application's window.
  public init(application: Application) { self.application = application }

  /// Runs the program's life: signals, watches and budgets are the process host's.
  public func run() async -> Int32 {
    var configuration = ProcessHost.Configuration()
    configuration.beforeForcedExit = { StandardError.writeLine("the screen is given back") }
    return await ProcessHost(application: application, configuration: configuration).run()
  }

  /// Takes what has happened to the window, and returns at once: what comes next may shorten a tear-down that is in progress.
  public func take(_ event: Event) {
    switch event {
    case .focusLost: application.send(.beginInterruption("focus"), cause: "focus")
    case .focusGained: application.send(.endInterruption("focus"), cause: "focus")
    case .hidden: application.send(.home, cause: "minimized")
    case .shown: application.send(.open, cause: "restored")
    case .closed: application.send(.terminate, cause: "window closed")
    }
  }
}
