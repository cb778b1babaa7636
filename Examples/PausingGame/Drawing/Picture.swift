/// An element of a picture; each window has a texture for each sprite.
enum Sprite: Sendable, Hashable {
  case plain, sky, brick, paddle, ball
  case letter(Character)

  static var all: [Sprite] { [.plain, .sky, .brick, .paddle, .ball] + Font.characters.map(letter) }

  /// The pixels of its texture, white; a picture gives them color.
  func bitmap() -> Bitmap {
    switch self {
    case .plain: Bitmap(width: 1, height: 1) { _, _ in (1, 1) }
    // Darker toward the lower edge.
    case .sky: Bitmap(width: 1, height: 240) { _, y in (1 - 0.6 * y / 240, 1) }
    case .brick: .roundBox(width: 112, height: 40, radius: 8)
    case .paddle: .roundBox(width: 192, height: 28, radius: 14)
    case .ball: .roundBox(width: 28, height: 28, radius: 14)
    case .letter(let character): Font.bitmap(of: character, scale: 4)
    }
  }
}

/// A color, each part from 0 to 255.
struct Color: Sendable, Hashable {
  let red: UInt8, green: UInt8, blue: UInt8
  var opacity: UInt8 = 255

  init(_ red: UInt8, _ green: UInt8, _ blue: UInt8, opacity: UInt8 = 255) {
    (self.red, self.green, self.blue, self.opacity) = (red, green, blue, opacity)
  }

  static let night = Color(40, 46, 84), white = Color(244, 246, 255), pale = Color(150, 160, 205)
  /// The colors of the wall's rows, from the top.
  static let rainbow = [
    Color(240, 92, 108), Color(246, 148, 84), Color(248, 205, 92), Color(126, 208, 130), Color(92, 178, 238),
    Color(164, 134, 240),
  ]
}

/// The contents of a window: sprites in order, each drawn over those before it.
struct Picture: Sendable, Hashable {
  struct Shape: Sendable, Hashable {
    let sprite: Sprite
    let x: Double, y: Double, width: Double, height: Double
    let color: Color
  }

  let width: Double, height: Double
  private(set) var shapes: [Shape] = []

  init(width: Double, height: Double) {
    (self.width, self.height) = (width, height)
    add(.sky, x: 0, y: 0, width: width, height: height, .night)
  }

  mutating func add(_ sprite: Sprite, x: Double, y: Double, width: Double, height: Double, _ color: Color) {
    shapes.append(Shape(sprite: sprite, x: x, y: y, width: width, height: height, color: color))
  }

  /// Adds a line of text.
  ///
  /// - Parameters:
  ///   - text: capital letters, digits and blanks.
  ///   - x: where the text begins (alignment 0), has its middle (0.5) or ends (1).
  ///   - y: its upper edge.
  ///   - dot: how wide a dot of a letter is.
  ///   - alignment: what `x` means.
  ///   - color: the letters' color.
  mutating func add(_ text: String, x: Double, y: Double, dot: Double, alignment: Double = 0, _ color: Color) {
    let step = Double(Font.width + 1) * dot
    var left = x - alignment * (Double(text.count) * step - dot)
    for character in text.uppercased() {
      if character != " " {
        add(
          .letter(character), x: left, y: y, width: Double(Font.width) * dot, height: Double(Font.height) * dot, color)
      }
      left += step
    }
  }
}
