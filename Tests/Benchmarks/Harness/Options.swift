/// What the command line asks for.
package struct Options: Equatable, Sendable {
  /// A line that cannot be understood.
  package struct Misuse: Error, Equatable, CustomStringConvertible {
    /// What is wrong with it.
    package let description: String

    /// A misuse, described by a sentence.
    package init(_ description: String) { self.description = description }
  }

  /// Where to write everything that was measured.
  package var jsonPath: String?
  /// Fewer and shorter rounds.
  package var isQuick = false
  /// The sections to measure; all if empty.
  package var only: [String] = []
  /// End with status 1 if a bound is not reached.
  package var checks = false
  /// Print the help and nothing else.
  package var wantsHelp = false

  /// Everything, without judging.
  package init() {}

  /// Reads arguments, the program's name not among them.
  ///
  /// - Parameters:
  ///   - arguments: the words of the command line.
  ///   - sections: the names that `--only` may be followed by.
  /// - Throws: ``Misuse``.
  package init(_ arguments: [String], sections: [String]) throws(Misuse) {
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      switch argument {
      case "--json": jsonPath = try Self.value(of: argument, &rest)
      case "--quick": isQuick = true
      case "--only":
        let name = try Self.value(of: argument, &rest)
        guard sections.contains(name) else {
          throw Misuse("no section \(name); there are: \(sections.joined(separator: ", "))")
        }
        only.append(name)
      case "--check": checks = true
      case "--help", "-h": wantsHelp = true
      default: throw Misuse("what is \(argument)? --help tells what there is")
      }
    }
  }

  private static func value(of option: String, _ rest: inout ArraySlice<String>) throws(Misuse) -> String {
    guard let value = rest.popFirst() else { throw Misuse("\(option) needs a value") }
    return value
  }
}
