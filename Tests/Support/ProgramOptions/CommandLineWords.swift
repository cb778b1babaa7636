/// The words of a command line, taken one by one.
package struct CommandLineWords: Sendable {
  /// A command line that cannot be understood.
  package struct Misuse: Error, Sendable {
    /// What is wrong with it.
    package let sentence: String
  }

  private var rest: ArraySlice<String>

  /// The words after the program's name.
  package init(_ arguments: [String]) { rest = arguments[...] }

  /// Takes the next word; nil behind the last one.
  package mutating func next() -> String? { rest.popFirst() }

  /// Takes the number that follows an option.
  package mutating func number<Number: FixedWidthInteger>(of option: String) throws(Misuse) -> Number {
    guard let word = rest.popFirst(), let number = Number(word), number >= 0 else {
      throw Misuse(sentence: "\(option) needs a number")
    }
    return number
  }

  /// A word that is no option.
  package static func unknown(_ word: String) -> Misuse {
    Misuse(sentence: "what is \(word)? --help tells what there is")
  }
}
