import AppLifecycle

/// The command that the arguments ask for.
enum Command: Equatable {
  case help(String)
  case simulate(SimulateCommand)
  case log(LogCommand)
  case sessions(SessionsCommand)
  case timeline(TimelineCommand)
  case names(NamesCommand)
  case states(StatesCommand)
  case completion(Completion)

  /// Reads the arguments, without the program's name.
  init(_ arguments: ArraySlice<String>) throws(UsageError) {
    switch arguments.first {
    case "completion": self = try Self.completion(arguments.dropFirst())
    case let name? where Help.commands.contains(name):
      var rest = Arguments(arguments.dropFirst())
      self = try Self.command(name, &rest)
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

  private static func command(_ name: String, _ arguments: inout Arguments) throws(UsageError) -> Command {
    switch name {
    case "simulate": try SimulateCommand(&arguments).map { .simulate($0) } ?? .help(Help.simulate)
    case "log": try LogCommand(&arguments).map { .log($0) } ?? .help(Help.log)
    case "sessions": try SessionsCommand(&arguments).map { .sessions($0) } ?? .help(Help.sessions)
    case "timeline": try TimelineCommand(&arguments).map { .timeline($0) } ?? .help(Help.timeline)
    case "states": try StatesCommand(&arguments).map { .states($0) } ?? .help(Help.states)
    default: try NamesCommand(&arguments).map { .names($0) } ?? .help(Help.names)
    }
  }
}

/// An error: the arguments are invalid.
struct UsageError: Error {
  /// The reason in one line.
  ///
  /// Characters of repeated arguments that a terminal would obey are written out.
  let message: String

  init(_ message: String) { self.message = message.printable }
}
