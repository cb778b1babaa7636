/// A third of a pregnancy: until 13+6, until 27+6, and from 28+0 on, the division of the American College of Obstetricians and
/// Gynecologists.
enum Trimester: Sendable, CustomStringConvertible {
  case first, second, third

  init(ofDay number: Int) {
    self =
      switch number {
      case ..<(14 * 7): .first
      case ..<(28 * 7): .second
      default: .third
      }
  }

  var description: String {
    switch self {
    case .first: "first trimester"
    case .second: "second trimester"
    case .third: "third trimester"
    }
  }
}
