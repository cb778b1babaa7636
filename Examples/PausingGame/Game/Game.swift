/// The state of the game: a ball, a paddle and a wall of bricks.
///
/// The state changes only by ``step(_:)``, which advances the game by a fixed time. The game knows no clock, no window and no pause.
struct Game: Sendable, Hashable, Codable {
  /// Where the player moves the paddle.
  enum Direction: Double, Sendable { case left = -1, stay = 0, right = 1 }

  /// A place or a speed, in points or in points a second.
  struct Vector: Sendable, Hashable, Codable { var x: Double, y: Double }

  /// One brick of the wall, by its place in the wall.
  struct Brick: Sendable, Hashable, Codable { let column: Int, row: Int }

  static let size = Vector(x: 640, y: 480)
  static let columns = 10, rows = 6
  static let brickSize = Vector(x: 56, y: 20)
  static let paddleSize = Vector(x: 96, y: 14)
  static let ballRadius = 7.0
  /// How long a step is, in seconds.
  static let stepTime = 1.0 / 120

  private(set) var paddle = size.x / 2
  private(set) var ball = Vector(x: 0, y: 0)
  private(set) var bricks: Set<Brick> = []
  private(set) var score = 0
  private(set) var balls = 3
  private(set) var level = 0
  private var speed = Vector(x: 0, y: 0)

  /// Whether the last ball is lost.
  var isOver: Bool { balls == 0 }

  init() {
    buildWall()
    serve()
  }

  /// Advances the game by one step; a game that is over stays as it is.
  mutating func step(_ direction: Direction) {
    guard !isOver else { return }
    let reach = Self.paddleSize.x / 2
    paddle = min(max(paddle + direction.rawValue * 460 * Self.stepTime, reach), Self.size.x - reach)
    ball.x += speed.x * Self.stepTime
    ball.y += speed.y * Self.stepTime
    bounceOffFrame()
    bounceOffPaddle()
    bounceOffBricks()
    if ball.y > Self.size.y + Self.ballRadius { loseBall() }
  }

  /// The direction that brings the paddle under the ball, for a game that plays itself.
  var directionToBall: Direction {
    let distance = ball.x - paddle
    return abs(distance) < 12 ? .stay : distance < 0 ? .left : .right
  }

  /// The upper left corner of a brick.
  static func corner(of brick: Brick) -> Vector {
    Vector(x: 22 + Double(brick.column) * 60, y: 64 + Double(brick.row) * 24)
  }

  static var paddleTop: Double { size.y - 44 }
}

// MARK: - What happens in a step

extension Game {
  private mutating func buildWall() {
    level += 1
    for row in 0..<Self.rows {
      for column in 0..<Self.columns { bricks.insert(Brick(column: column, row: row)) }
    }
  }

  /// A new ball starts above the paddle, faster on each level.
  private mutating func serve() {
    ball = Vector(x: paddle, y: Self.paddleTop - Self.ballRadius - 1)
    let pace = 260 + 40 * Double(level)
    speed = Vector(x: pace * 0.5, y: -pace * 0.87)
  }

  private mutating func loseBall() {
    balls -= 1
    if !isOver { serve() }
  }

  private mutating func bounceOffFrame() {
    if ball.x < Self.ballRadius { speed.x = abs(speed.x) }
    if ball.x > Self.size.x - Self.ballRadius { speed.x = -abs(speed.x) }
    if ball.y < Self.ballRadius { speed.y = abs(speed.y) }
  }

  /// The farther from the paddle's middle the ball hits it, the flatter it flies away.
  private mutating func bounceOffPaddle() {
    let offset = (ball.x - paddle) / (Self.paddleSize.x / 2)
    guard speed.y > 0, abs(offset) <= 1.1, (0...Self.paddleSize.y).contains(ball.y + Self.ballRadius - Self.paddleTop)
    else { return }
    let pace = (speed.x * speed.x + speed.y * speed.y).squareRoot()
    speed.x = pace * 0.8 * min(max(offset, -1), 1)
    speed.y = -(pace * pace - speed.x * speed.x).squareRoot()
  }

  private mutating func bounceOffBricks() {
    guard let (brick, overlap) = deepestOverlap else { return }
    bricks.remove(brick)
    score += 10 * (Self.rows - brick.row)
    // The side that the ball has entered by less is the side that it has hit.
    if abs(overlap.x) < abs(overlap.y) {
      speed.x = abs(speed.x) * (overlap.x < 0 ? -1 : 1)
    } else {
      speed.y = abs(speed.y) * (overlap.y < 0 ? -1 : 1)
    }
    guard bricks.isEmpty else { return }
    buildWall()
    serve()
  }

  /// The brick that the ball has entered most, of two neighbors the left one; the same in each run, which a set's order is not.
  private var deepestOverlap: (Brick, Vector)? {
    let touched = bricks.compactMap { brick in overlap(with: brick).map { (brick, $0) } }
    return touched.max { first, second in
      let areas = [first, second].map { abs($0.1.x * $0.1.y) }
      return (areas[0], -first.0.row, -first.0.column) < (areas[1], -second.0.row, -second.0.column)
    }
  }

  /// How far the ball has entered a brick, negative from the left and from above; nil where they do not touch.
  private func overlap(with brick: Brick) -> Vector? {
    let corner = Self.corner(of: brick)
    let x = ball.x - corner.x - Self.brickSize.x / 2
    let y = ball.y - corner.y - Self.brickSize.y / 2
    let depth = Vector(
      x: Self.brickSize.x / 2 + Self.ballRadius - abs(x), y: Self.brickSize.y / 2 + Self.ballRadius - abs(y))
    guard depth.x > 0, depth.y > 0 else { return nil }
    return Vector(x: x < 0 ? -depth.x : depth.x, y: y < 0 ? -depth.y : depth.y)
  }
}
