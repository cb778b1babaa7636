/// Counts the words of each line in a stream of bytes, and builds the answer from the counts.
///
/// A value without I/O. It keeps only counts, so a line costs no memory, however long it is.
struct WordCounter: Hashable, Sendable {
  /// The limit of a line's length in bytes; counting stops at a longer line.
  static let lineLimit = 65_536

  /// How many bytes of the present line were read; 0 between two lines.
  private(set) var length = 0
  private var words = 0
  private var isInWord = false

  /// Why counting stopped.
  enum Stop: Hashable, Sendable {
    /// All bytes are counted.
    case endOfInput
    /// A line ended, and the caller wanted only one.
    case endOfLine
    /// The line is longer than ``lineLimit``.
    case lineTooLong
  }

  /// Takes bytes, and adds to `answer` the number of words of each line that ends in them.
  ///
  /// One pass over raw memory: fast without the optimizer, too, where each element of an array costs a call.
  ///
  /// - Complexity: linear in the number of bytes.
  mutating func take(_ bytes: UnsafeRawBufferPointer, onlyOneLine: Bool, answer: inout [UInt8]) -> Stop {
    guard let first = bytes.baseAddress else { return .endOfInput }
    var (length, words, isInWord) = (length, words, isInWord)
    defer { (self.length, self.words, self.isInWord) = (length, words, isInWord) }
    var index = 0
    while index < bytes.count {
      let byte = first.load(fromByteOffset: index, as: UInt8.self)
      index &+= 1
      if byte == 0x0A {
        Self.append(words, to: &answer)
        (length, words, isInWord) = (0, 0, false)
        if onlyOneLine { return .endOfLine }
        continue
      }
      length &+= 1
      if length > Self.lineLimit { return .lineTooLong }
      // Space, tab and carriage return separate words.
      if byte == 0x20 || byte == 0x09 || byte == 0x0D {
        isInWord = false
      } else if !isInWord {
        isInWord = true
        words &+= 1
      }
    }
    return .endOfInput
  }

  private static func append(_ number: Int, to answer: inout [UInt8]) {
    if number >= 10 { return answer += Array("\(number)\n".utf8) }
    answer.append(0x30 &+ UInt8(truncatingIfNeeded: number))
    answer.append(0x0A)
  }
}
