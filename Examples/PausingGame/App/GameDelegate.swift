import AppLifecycle
import PubSub
import SavedState

/// The application's delegate: it makes the session, gives each scene its delegate, and obeys the keys.
@MainActor final class GameDelegate {
  /// What the player's keys mean.
  enum Key: Sendable { case left, right, goOn, scores, quit }

  /// Two windows, each a scene with a life cycle of its own.
  static var configuration: Application.Configuration {
    var configuration = Application.Configuration()
    configuration.profile = .scenes
    return configuration
  }

  private(set) var session: GameSession?
  private let openWindow: @MainActor (SceneIdentifier) -> any GameWindow
  private let playsItself: Bool

  /// - Parameters:
  ///   - playsItself: whether the paddle follows the ball.
  ///   - openWindow: opens a window for a scene.
  init(playsItself: Bool = false, openWindow: @escaping @MainActor (SceneIdentifier) -> any GameWindow) {
    (self.playsItself, self.openWindow) = (playsItself, openWindow)
  }

  /// Obeys a key.
  func press(_ key: Key, in application: Application) {
    switch key {
    case .left where !playsItself: session?.direction = .left
    case .right where !playsItself: session?.direction = .right
    case .left, .right: break
    case .goOn: if session?.isPaused == true { session?.goOn() } else { session?.pause() }
    case .scores:
      let isOpen = application.scenes.contains { $0.identifier == .scores }
      application.send(isOpen ? .closeScene(.scores) : .openScene(.scores))
    case .quit: application.send(.terminate)
    }
  }

  /// The player lets go of a key.
  func release(_ key: Key) {
    switch (key, session?.direction) {
    case (.left, .left), (.right, .right): session?.direction = .stay
    default: break
    }
  }
}

extension GameDelegate: SavedStateDelegate {
  var savedStateConfiguration: SavedState.Configuration { .init(program: "PausingGame") }

  func applicationWillFinishLaunching(_ application: Application) {
    do {
      session = try GameSession(in: .main, of: application)
    } catch {
      preconditionFailure("\(error)")  // two values of one name: a mistake in this program
    }
    if playsItself { session?.direction = nil }
  }

  /// Opens the window of the scores again, if it was open when the last run ended.
  func applicationDidFinishLaunching(_ application: Application) {
    for session in application.openSessions where session.identifier == .scores && session.scene == nil {
      application.send(.openScene(session.identifier))
    }
  }

  func application(_ application: Application, delegateFor scene: Application.Scene) -> (any SceneDelegate)? {
    GameScene(openWindow: openWindow)
  }
}

extension SceneIdentifier {
  /// The window that shows the score.
  static let scores: SceneIdentifier = "scores"
}
