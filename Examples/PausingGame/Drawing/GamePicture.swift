extension Picture {
  /// The picture in the game's window.
  init(of game: Game, isPaused: Bool) {
    self.init(width: Game.size.x, height: Game.size.y)
    addHeader(game)
    for row in 0..<Game.rows {
      for column in 0..<Game.columns {
        let brick = Game.Brick(column: column, row: row)
        guard game.bricks.contains(brick) else { continue }
        let corner = Game.corner(of: brick)
        add(
          .brick, x: corner.x, y: corner.y, width: Game.brickSize.x, height: Game.brickSize.y, Color.rainbow[row])
      }
    }
    let radius = Game.ballRadius
    add(
      .paddle, x: game.paddle - Game.paddleSize.x / 2, y: Game.paddleTop, width: Game.paddleSize.x,
      height: Game.paddleSize.y, Color(120, 200, 250))
    add(.ball, x: game.ball.x - radius, y: game.ball.y - radius, width: 2 * radius, height: 2 * radius, .white)
    if isPaused { addPause(game) }
  }

  private mutating func addHeader(_ game: Game) {
    add("score", x: 22, y: 26, dot: 2, .pale)
    add("\(game.score)", x: 92, y: 26, dot: 2, .white)
    add("level \(game.level)", x: width / 2, y: 26, dot: 2, alignment: 0.5, .pale)
    for ball in 0..<game.balls { add(.ball, x: width - 36 - Double(ball) * 20, y: 26, width: 14, height: 14, .white) }
  }

  /// Dims the picture and says how to go on.
  private mutating func addPause(_ game: Game) {
    add(.plain, x: 0, y: 0, width: width, height: height, Color(12, 14, 30, opacity: 150))
    add(game.isOver ? "game over" : "paused", x: width / 2, y: 246, dot: 6, alignment: 0.5, .white)
    let invitation = game.isOver ? "space begins a new game" : "space goes on"
    add(invitation, x: width / 2, y: 312, dot: 2, alignment: 0.5, .white)
    add("s scores  q quit", x: width / 2, y: 342, dot: 2, alignment: 0.5, .pale)
  }
}
