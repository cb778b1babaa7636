/// Pixels of a sprite, in rows from the top.
struct Bitmap: Sendable {
  let width: Int, height: Int
  /// Four bytes a pixel: red, green, blue, opacity.
  private(set) var bytes: [UInt8] = []

  /// A bitmap whose pixels are computed.
  ///
  /// - Parameters:
  ///   - width: the number of columns.
  ///   - height: the number of rows.
  ///   - shade: brightness and opacity of the pixel at a place, both from 0 to 1.
  init(width: Int, height: Int, shade: (_ x: Double, _ y: Double) -> (brightness: Double, opacity: Double)) {
    (self.width, self.height) = (width, height)
    for row in 0..<height {
      for column in 0..<width {
        let (brightness, opacity) = shade(Double(column) + 0.5, Double(row) + 0.5)
        let gray = UInt8(255 * min(max(brightness, 0), 1))
        bytes += [gray, gray, gray, UInt8(255 * min(max(opacity, 0), 1))]
      }
    }
  }

  /// A box with round corners and smooth edges, lit from above.
  static func roundBox(width: Int, height: Int, radius: Double) -> Bitmap {
    Bitmap(width: width, height: height) { x, y in
      let (w, h) = (Double(width), Double(height))
      let dx = max(radius - x, x - (w - radius), 0)
      let dy = max(radius - y, y - (h - radius), 0)
      let edge = radius - (dx * dx + dy * dy).squareRoot()
      return (1 - 0.38 * y / h + (y < h * 0.28 ? 0.1 : 0), edge + 0.5)
    }
  }
}
