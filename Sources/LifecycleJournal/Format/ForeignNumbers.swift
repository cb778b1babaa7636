// The one door for numbers of a file: what passes it can be added, subtracted and printed without an overflow.

extension JSONObject {
  /// Returns a whole number; nil if it is missing, of another type, or out of range.
  func count<Count: FixedWidthInteger>(_ key: String) -> Count? {
    if case .number(let digits) = self[key] { Count(foreign: digits) } else { nil }
  }

  /// Returns a number of seconds; nil if it is missing, of another type, or out of range.
  func duration(_ key: String) -> Duration? {
    if case .number(let digits) = self[key] { Duration(decimalSeconds: digits) } else { nil }
  }

  /// Returns `.some(duration)`, or `.some(nil)` for a missing field; nil if the value is of another type or out of range.
  func optionalDuration(_ key: String) -> Duration?? {
    if self[key] == nil { .some(nil) } else { duration(key).map { .some($0) } }
  }

  /// The first number of the format that is out of range; nil if all can be used.
  var numberOutOfRange: JournalDamage? {
    for field in fields {
      guard case .number(let digits) = field.value else { continue }
      let isUsable =
        switch field.key {
        case "t", "began", "since", "wall", "start", "up", "upStart": Duration(decimalSeconds: digits) != nil
        case "pid": Int32(foreign: digits) != nil
        case "lost", "part", "version": Int(foreign: digits) != nil
        default: true
        }
      if !isUsable { return .outOfRange(field: field.key, column: field.offset + 1) }
    }
    return nil
  }
}

extension FixedWidthInteger {
  /// Makes the whole number of a JSON number, in any of its forms: `3`, `3.0`, `3e0`; nil if it is out of range.
  init?(foreign digits: String) {
    if let number = Self(digits) {
      self = number
    } else if digits.utf8.contains(where: { [".", "e", "E"].contains(Character(Unicode.Scalar($0))) }) {
      guard let number = Double(digits).flatMap({ Self(exactly: $0) }) else { return nil }
      self = number
    } else {
      return nil
    }
  }
}

extension Int {
  /// Adds a number that comes from a file; the sum stops at the largest and at the smallest number.
  package mutating func add(clamped foreign: Int) {
    let (sum, hasOverflowed) = addingReportingOverflow(foreign)
    self = hasOverflowed ? (foreign > 0 ? .max : .min) : sum
  }
}

extension Duration {
  /// Every time in a file is shorter than this: 31,700 years.
  ///
  /// Sums of eight such times, and a sum of four in microseconds, are still numbers of seconds in 64 bits.
  package static let foreignLimit = Duration.seconds(1_000_000_000_000)

  /// Makes the duration of a JSON number of seconds, exact to an attosecond; nil if it is out of range.
  ///
  /// A number with an exponent, which this format never writes, is as exact as a floating-point number.
  init?(decimalSeconds text: String) {
    let isNegative = text.hasPrefix("-")
    let parts = text.dropFirst(isNegative ? 1 : 0).split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    guard let first = parts.first else { return nil }
    let limit = Self.foreignLimit.components.seconds
    if text.utf8.contains(where: { $0 == UInt8(ascii: "e") || $0 == UInt8(ascii: "E") }) {
      guard let seconds = Double(text), seconds.magnitude < Double(limit) else { return nil }
      self = .seconds(seconds)
      return
    }
    guard let seconds = Int64(first), seconds < limit else { return nil }
    var attoseconds: Int64 = 0
    if parts.count == 2 {
      let digits = parts[1].prefix(18)
      guard let value = Int64(digits) else { return nil }
      attoseconds = (digits.utf8.count..<18).reduce(value) { value, _ in value * 10 }
    }
    self.init(
      secondsComponent: isNegative ? -seconds : seconds, attosecondsComponent: isNegative ? -attoseconds : attoseconds)
  }
}
