import AppLifecycle
import AppLifecycleTesting
import Testing

@testable import PausingGame

/// The game's life cycle on a simulated device.
@Suite @MainActor struct GameSessionTests {
  /// The game in two windows, of which the first has the focus, being played.
  private func playedGame() async throws -> SimulatedGame {
    let game = SimulatedGame()
    try await game.play("launch; scene:open:scores; scene:unfocus:scores")
    #expect(game.session.isPaused)
    game.press(.goOn)
    #expect(!game.session.isPaused)
    return game
  }

  @Test func aGameBeginsPausedAndGoesOnWithAKey() async throws {
    let game = try await playedGame()
    let before = game.session.game
    game.session.advance(by: 0.1)
    #expect(game.session.game != before)
    game.press(.goOn)
    #expect(game.session.isPaused)
  }

  @Test func withoutTheFocusTheGamePausesAndStaysPausedWhenTheFocusReturns() async throws {
    let game = try await playedGame()
    let states = game.system.record.states
    try await game.play("scene:focus:scores; scene:unfocus:main")
    let paused = game.session.game
    #expect(game.session.isPaused)
    // A key that the other window receives does not start the game.
    game.press(.goOn)
    #expect(game.session.isPaused)
    try await game.play("scene:focus:main; scene:unfocus:scores")
    game.session.advance(by: 0.1)
    #expect(game.session.isPaused && game.session.game == paused)
    // The focus went from one window to the other: to the application as a whole nothing happened.
    #expect(game.system.record.states == states)
    game.press(.goOn)
    game.session.advance(by: 0.1)
    #expect(game.session.game != paused)
  }

  @Test func theOtherWindowMayLoseTheFocusWithoutAPause() async throws {
    let game = try await playedGame()
    try await game.play("scene:focus:scores; scene:unfocus:scores; scene:background:scores; scene:close:scores")
    #expect(!game.session.isPaused)
  }

  @Test func aMinimizedWindowFreesItsTexturesAndHasThemAgainWhenItIsRestored() async throws {
    let game = try await playedGame()
    #expect(game.calls == ["open main", "make main", "open scores", "make scores"])
    #expect(
      try await game.play("scene:focus:scores; scene:unfocus:main; scene:background:main") == ["free main"])
    #expect(game.session.isPaused && game.application.state == .active)
    #expect(try await game.play("scene:open:main; scene:focus:main") == ["make main"])
    #expect(game.session.isPaused)
    #expect(try await game.play("home") == ["free main", "free scores"])
    #expect(try await game.play("scene:open:scores") == ["make scores"])
  }

  @Test func aClosedWindowFreesItsTexturesAndTheEndClosesAll() async throws {
    let game = try await playedGame()
    #expect(Set(try await game.play("scene:close:scores")) == ["free scores", "close scores"])
    #expect(try await game.play("scene:open:scores") == ["open scores", "make scores"])
    #expect(Set(try await game.play("kill")) == ["free main", "free scores", "close main", "close scores"])
    #expect(game.application.resources.isEmpty || game.application.resources.allSatisfy { $0.status == .idle })
  }

  @Test func theKeysOpenAndCloseTheScoresAndEndTheGame() async throws {
    let game = SimulatedGame()
    try await game.play("launch")
    game.press(.scores)
    #expect(try await game.play("wait:1ms") == ["open scores", "make scores"])
    game.press(.scores)
    #expect(Set(try await game.play("wait:1ms")) == ["free scores", "close scores"])
    game.press(.quit)
    try await game.play("wait:1ms")
    #expect(game.application.state == .notRunning)
  }

  @Test func thePaddleMovesWhileAKeyIsHeld() async throws {
    let game = try await playedGame()
    let start = game.session.game.paddle
    game.press(.left)
    game.session.advance(by: 0.1)
    let left = game.session.game.paddle
    #expect(left < start)
    game.release(.right)
    game.session.advance(by: 0.1)
    #expect(game.session.game.paddle < left)
    game.release(.left)
    let place = game.session.game.paddle
    game.session.advance(by: 0.1)
    #expect(game.session.game.paddle == place)
    // The key is released in another window, and this window does not learn of it.
    game.press(.right)
    try await game.play("scene:focus:scores; scene:unfocus:main; scene:focus:main")
    game.press(.goOn)
    game.session.advance(by: 0.1)
    #expect(game.session.game.paddle == place)
  }

  @Test func aLongPauseOfTheProgramIsNotPlayedAtOnce() async throws {
    let (game, same) = (try await playedGame(), try await playedGame())
    game.session.advance(by: 3_600)
    same.session.advance(by: 0.1)
    #expect(game.session.game == same.session.game)
  }

  @Test func theLastBallPausesTheGameAndTheKeyBeginsANewOne() async throws {
    let game = try await playedGame()
    game.press(.left)
    for _ in 0..<600 where !game.session.isPaused { game.session.advance(by: 0.1) }
    #expect(game.session.game.isOver && game.session.isPaused)
    game.press(.goOn)
    #expect(!game.session.isPaused && game.session.game == Game())
  }

  @Test(arguments: ["kill", "home; wait:1d; reclaim"])
  func `The next run goes on with the same game, in the same windows`(end: String) async throws {
    let game = SimulatedGame()
    try await game.play("launch")
    game.press(.goOn)
    game.session.advance(by: 0.1)
    game.press(.scores)
    try await game.play("wait:1s")
    let before = game.session.game
    #expect(before != Game())
    try await game.play(end)
    #expect(game.application.state == .notRunning)
    try await game.play("launch")
    #expect(game.session.game == before && game.session.isPaused)
    #expect(game.application.scenes.map(\.identifier).contains(.scores))
  }
}
