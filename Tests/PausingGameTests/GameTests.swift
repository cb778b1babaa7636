import Testing

@testable import PausingGame

@Suite struct GameTests {
  /// Plays until something is the case; nil after ten minutes of the game's time.
  private func play(
    _ game: Game, _ direction: (Game) -> Game.Direction, until isReached: (Game) -> Bool
  ) -> Game? {
    var game = game
    for _ in 0..<Int(600 / Game.stepTime) {
      if isReached(game) { return game }
      game.step(direction(game))
    }
    return nil
  }

  @Test func aBallThatHitsABrickTakesItAndCounts() throws {
    let game = try #require(play(Game(), { _ in .stay }) { $0.bricks.count < 60 })
    #expect(game.bricks.count == 59)
    // A brick of the lowest row.
    #expect(game.score == 10)
  }

  @Test func aPaddleThatFollowsTheBallLosesNoneAndClearsTheWall() throws {
    let game = try #require(play(Game(), \.directionToBall) { $0.level == 2 })
    #expect(game.balls == 3)
    // Ten bricks in each row, of 10 points in the lowest to 60 in the topmost.
    #expect(game.score == 2_100)
    #expect(game.bricks.count == 60)
  }

  @Test func withoutAPlayerThreeBallsAreLostAndTheGameStands() throws {
    var game = try #require(play(Game(), { _ in .left }, until: \.isOver))
    let last = game
    game.step(.right)
    #expect(game == last)
  }

  @Test func thePaddleStaysInTheField() throws {
    for direction in [Game.Direction.left, .right] {
      var game = Game()
      for _ in 0..<500 { game.step(direction) }
      #expect(game.paddle == (direction == .left ? 48 : 592))
    }
  }

  @Test func theSameGameEndsTheSameEachTime() throws {
    let ends = try (0..<3).map { _ in try #require(play(Game(), \.directionToBall) { $0.score >= 1_000 }) }
    #expect(Set(ends).count == 1)
  }
}
