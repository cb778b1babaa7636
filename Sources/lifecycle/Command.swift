/// What the arguments ask for.
enum Command: Equatable {
  case help(String)
  case simulate(Simulation)
  case log(Log)
  case sessions(Sessions)
  case timeline(TimelineCommand)
  case names(Names)
  case completion(Completion)

  /// Reads the arguments, the program's name not among them.
  init(_ arguments: ArraySlice<String>) throws(UsageError) {
    switch arguments.first {
    case "simulate": self = try Self.simulate(arguments.dropFirst())
    case "completion": self = try Self.completion(arguments.dropFirst())
    case "log", "sessions", "timeline", "names":
      var rest = Arguments(arguments.dropFirst())
      self = try Self.reading(arguments.first ?? "", &rest)
    case "help": self = .help(try Help.text(of: arguments.dropFirst().first))
    case "--help", "-h": self = .help(Help.overview)
    case let other?: throw UsageError(unknownCommand: other)
    case nil:
      throw UsageError(
        "a command is missing; there is \(Help.commands.map { "'\($0)'" }.joined(separator: ", "))")
    }
  }

  private static func completion(_ arguments: ArraySlice<String>) throws(UsageError) -> Command {
    if let first = arguments.first, ["--help", "-h"].contains(first) { return .help(Help.completion) }
    guard arguments.count == 1, let shell = arguments.first.flatMap(Completion.init(rawValue:)) else {
      throw UsageError("'completion' needs a shell: bash, zsh or fish")
    }
    return .completion(shell)
  }

  /// The commands that read a journal or nothing.
  private static func reading(_ name: String, _ arguments: inout Arguments) throws(UsageError) -> Command {
    switch name {
    case "log": try Log(&arguments).map { .log($0) } ?? .help(Help.log)
    case "sessions": try Sessions(&arguments).map { .sessions($0) } ?? .help(Help.sessions)
    case "timeline": try TimelineCommand(&arguments).map { .timeline($0) } ?? .help(Help.timeline)
    default: try Names(&arguments).map { .names($0) } ?? .help(Help.names)
    }
  }

  private static func simulate(_ arguments: ArraySlice<String>) throws(UsageError) -> Command {
    var arguments = arguments
    var simulation = Simulation()
    var scripts: [String] = []
    var isReplay = false
    while let argument = arguments.popFirst() {
      let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      switch parts[0] {
      case "--help" where parts.count == 1, "-h" where parts.count == 1: return .help(Help.simulate)
      case "--": scripts += arguments; arguments = []
      case "--format":
        simulation.format = try choice(of: "--format", parts.dropFirst().first ?? arguments.popFirst())
      case "--profile":
        simulation.profile = try choice(of: "--profile", parts.dropFirst().first ?? arguments.popFirst())
      case "--replay":
        guard let path = parts.dropFirst().first ?? arguments.popFirst(), !path.isEmpty else {
          throw UsageError("--replay needs a file")
        }
        simulation.source = .trace(path)
        isReplay = true
      case "-": scripts.append(argument)
      case let option where option.hasPrefix("-"): throw UsageError(unknownOption: option, of: "simulate")
      default: scripts.append(argument)
      }
    }
    guard scripts.count <= 1 else {
      throw UsageError("one script is expected, not \(scripts.count); put it in quotes: 'launch; home'")
    }
    guard !isReplay || scripts.isEmpty else { throw UsageError("a script and --replay exclude each other") }
    if let script = scripts.first, script != "-" { simulation.source = .argument(script) }
    return .simulate(simulation)
  }

  private static func choice<Choice: RawRepresentable<String> & CaseIterable>(
    of option: String, _ text: String?
  ) throws(UsageError) -> Choice {
    let choices = Choice.allCases.map(\.rawValue).joined(separator: " or ")
    guard let text else { throw UsageError("\(option) needs a value: \(choices)") }
    guard let choice = Choice(rawValue: text) else { throw UsageError("\(option) is \(choices), not '\(text)'") }
    return choice
  }
}

/// Arguments that make no sense, and why.
struct UsageError: Error {
  /// The reason in one line, which repeats arguments: what a terminal would obey in them is written out.
  let message: String

  init(_ message: String) { self.message = message.printable }
}
