extension Picture {
  /// The picture in the window of the scores: the numbers, and the remaining bricks.
  init(scoresOf game: Game, isPaused: Bool) {
    self.init(width: 260, height: 300)
    add("\(game.score)", x: width / 2, y: 28, dot: 6, alignment: 0.5, .white)
    add("points", x: width / 2, y: 84, dot: 2, alignment: 0.5, .pale)
    for row in 0..<Game.rows {
      for column in 0..<Game.columns {
        let isThere = game.bricks.contains(Game.Brick(column: column, row: row))
        let color = isThere ? Color.rainbow[row] : Color(52, 58, 98)
        add(.brick, x: 30 + Double(column) * 20.4, y: 122 + Double(row) * 20, width: 16, height: 12, color)
      }
    }
    add("level \(game.level)", x: 30, y: 258, dot: 2, .pale)
    add(isPaused ? "paused" : "playing", x: 230, y: 258, dot: 2, alignment: 1, .white)
  }
}
