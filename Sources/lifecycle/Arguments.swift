/// The arguments of a command: its options, taken one by one, and then its operands.
struct Arguments {
  private let command: Command
  private var rest: ArraySlice<String>
  /// The text after the `=` of the option that was taken last.
  private var inlineValue: String?
  /// The operands before the options that are left; after the last option, all of them.
  private(set) var operands: [String] = []

  init(_ arguments: ArraySlice<String>, of command: Command) { (rest, self.command) = (arguments, command) }

  /// Whether the user asks how to use the command.
  var asksForHelp: Bool { rest.prefix { $0 != "--" }.contains { $0 == "--help" || $0 == "-h" } }

  /// Takes the next option; options may stand before and after operands, and `--` ends them.
  mutating func nextOption() throws(UsageError) -> String? {
    if let inlineValue { throw UsageError("this option takes no value: '=\(inlineValue)'") }
    while let argument = rest.popFirst(), argument != "--" {
      guard argument.hasPrefix("-"), argument != "-" else {
        operands.append(argument)
        continue
      }
      let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      guard command.options.contains(where: { $0.name == parts[0] }) else {
        throw UsageError(unknownOption: parts[0], of: command)
      }
      inlineValue = parts.dropFirst().first
      return parts[0]
    }
    operands += rest
    rest = []
    return nil
  }

  /// The value of the option that was taken last.
  mutating func value(of option: String, _ meaning: String) throws(UsageError) -> String {
    defer { inlineValue = nil }
    guard let value = inlineValue ?? rest.popFirst(), !value.isEmpty else {
      throw UsageError("\(option) needs \(meaning)")
    }
    return value
  }

  /// One of a few values.
  mutating func choice<Choice: RawRepresentable<String> & CaseIterable>(
    of option: String
  ) throws(UsageError) -> Choice {
    let choices = Choice.allCases.map(\.rawValue).joined(separator: " or ")
    let text = try value(of: option, "a value: \(choices)")
    guard let choice = Choice(rawValue: text) else { throw UsageError("\(option) is \(choices), not '\(text)'") }
    return choice
  }

  /// The journal on which the command works: its only operand.
  func journal() throws(UsageError) -> String {
    guard let path = operands.first else {
      throw UsageError("'\(command.name)' needs a journal: lifecycle \(command.name) FILE")
    }
    guard operands.count == 1 else {
      throw UsageError("'\(command.name)' takes one file, not '\(operands[1])', too")
    }
    return path
  }

  /// Throws an error if there is an operand.
  func requireNoOperand() throws(UsageError) {
    if let operand = operands.first { throw UsageError("'\(command.name)' takes no '\(operand)'") }
  }
}
