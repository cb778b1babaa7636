/// The arguments of a command, taken one by one.
struct Arguments {
  private var rest: ArraySlice<String>
  /// The text after the `=` of the option that was taken last.
  private var inlineValue: String?
  private var takesOptions = true

  init(_ arguments: ArraySlice<String>) { rest = arguments }

  enum Argument: Equatable {
    case option(String)
    case operand(String)
  }

  /// The next argument; options may stand before and after operands, and `--` ends them.
  mutating func next() throws(UsageError) -> Argument? {
    if inlineValue != nil { throw UsageError("this option takes no value: '=\(inlineValue ?? "")'") }
    guard let argument = rest.popFirst() else { return nil }
    guard takesOptions, argument.hasPrefix("-"), argument != "-" else { return .operand(argument) }
    if argument == "--" {
      takesOptions = false
      return try next()
    }
    let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    inlineValue = parts.dropFirst().first
    return .option(parts[0])
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
}

extension String {
  /// Sets the one file that a command works on.
  mutating func takeFile(_ path: String, for command: String) throws(UsageError) {
    guard isEmpty else { throw UsageError("'\(command)' takes one file, not '\(path)', too") }
    self = path
  }
}
