import AppLifecycle
import PubSub
import SavedState

/// The game that is being played, and whether it is paused.
///
/// It pauses by itself when its window stops being active, and stays paused until the player goes on. The next run of the program goes
/// on with the same game.
@MainActor final class GameSession {
  /// The game was paused, or goes on.
  struct DidPauseOrGoOn: MainActorEvent { let isPaused: Bool }

  private(set) var game: Game {
    get { saved.value }
    set { saved.value = newValue }
  }
  /// A game begins paused, so that the player decides when it starts.
  private(set) var isPaused = true
  /// Where the player moves the paddle; nil lets the paddle follow the ball.
  var direction: Game.Direction? = .stay

  private let saved: SavedValue<Game>
  private weak let application: Application?
  private let window: SceneIdentifier
  private var unplayedTime = 0.0

  /// A session that is played in a window.
  init(in window: SceneIdentifier, of application: Application) throws(SavedStateError) {
    (self.application, self.window) = (application, window)
    saved = try application.savedState.value("game", default: Game())
    application.bus.subscribe(to: Application.Scene.WillDeactivate.self, for: self) { session, event in
      if event.scene.identifier == window { session.pause() }
    }
  }

  /// Pauses the game.
  func pause() {
    guard !isPaused else { return }
    isPaused = true
    // The key that is held down may be released in another window.
    if direction != nil { direction = .stay }
    application?.bus.post(DidPauseOrGoOn(isPaused: true), from: application)
  }

  /// Goes on with the game, or begins a new one after the last ball; without effect while the window is not active.
  func goOn() {
    guard isPaused, application?.scenes.first(where: { $0.identifier == window })?.state == .foregroundActive else {
      return
    }
    if game.isOver { game = Game() }
    (isPaused, unplayedTime) = (false, 0)
    application?.bus.post(DidPauseOrGoOn(isPaused: false), from: application)
  }

  /// Lets time pass in the game, in whole steps; what is left counts for the next call.
  ///
  /// - Parameter seconds: the time since the previous call. A program that did not run for longer than a tenth of a second has
  ///   shown no pictures meanwhile, so the game makes up for a tenth at most.
  func advance(by seconds: Double) {
    guard !isPaused else { return }
    unplayedTime += min(seconds, 0.1)
    var game = game
    while unplayedTime >= Game.stepTime {
      unplayedTime -= Game.stepTime
      game.step(direction ?? game.directionToBall)
    }
    self.game = game
    if game.isOver { pause() }
  }
}
