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
  private var hasFocus = true
  private var isVisible = true

  /// A host for an application's window.
  public init(application: Application) { self.application = application }

  /// Runs the program's life: signals, watches and budgets are the process host's.
  public func run() async -> Int32 {
    var configuration = ProcessHost.Configuration()
    configuration.beforeForcedExit = { StandardError.writeLine("the screen is given back") }
    return await ProcessHost(application: application, configuration: configuration).run()
  }

  /// Takes what has happened to the window; returns when the application has dealt with it.
  public func take(_ event: Event) async {
    switch event {
    case .focusLost where hasFocus:
      await application.handle(.beginInterruption("focus"), cause: "focus")
    case .focusGained where !hasFocus:
      await application.handle(.endInterruption("focus"), cause: "focus")
    case .hidden where isVisible: await application.handle(.home, cause: "minimized")
    case .shown where !isVisible: await application.handle(.open, cause: "restored")
    case .closed: await application.handle(.terminate, cause: "window closed")
    case .focusLost, .focusGained, .hidden, .shown: break
    }
    switch event {
    case .focusLost, .focusGained: hasFocus = event == .focusGained
    case .hidden, .shown: isVisible = event == .shown
    case .closed: break
    }
  }
}
