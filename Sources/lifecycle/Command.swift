/// What a command does, with its arguments.
protocol Action: SendableMetatype {
  /// Reads the arguments.
  init(_ arguments: inout Arguments) throws(UsageError)
  @MainActor func run() async throws -> ExitStatus
}

/// A command of the tool, with everything that depends on its name.
struct Command: Sendable {
  /// An option, with what completes its value; nil if it takes no value.
  typealias Option = (name: String, value: Value?)

  /// The words that complete the value of an option.
  enum Value {
    case file
    case text
    case words([String])
  }

  let name: String
  /// The purpose in one line, without an apostrophe: the shells quote with it.
  let purpose: String
  let options: [Option]
  var takesFile = false
  let help: String
  let action: any Action.Type

  private static let json: Option = ("--json", nil)
  private static let color: Option = ("--color", .words(["auto", "always", "never"]))
  private static let profile: Option = ("--profile", .words(["app", "scene"]))
  private static let output: [Option] = [("-o", .file), ("--output", .file)]

  /// The commands, in the order of the help text.
  static let all = [
    Command(
      name: "simulate", purpose: "play a script on a simulated system",
      options: [profile, ("--format", .words(["table", "jsonl"])), ("--replay", .file)],
      help: Help.simulate, action: SimulateCommand.self),
    Command(
      name: "log", purpose: "the events of a program",
      options: [("--follow", nil), ("-f", nil)] + Selection.options + [json, color],
      takesFile: true, help: Help.log, action: LogCommand.self),
    Command(
      name: "sessions", purpose: "one line for each run",
      options: [json, color], takesFile: true, help: Help.sessions, action: SessionsCommand.self),
    Command(
      name: "timeline", purpose: "a picture of the runs",
      options: output + [("--format", .words(["html", "json"]))] + Selection.options,
      takesFile: true, help: Help.timeline, action: TimelineCommand.self),
    Command(
      name: "fleet", purpose: "the processes that a broker knows of",
      options: [("--broker", .text), ("--tls", nil), ("--user", .text), ("--password-file", .file), json],
      help: Help.fleet, action: FleetCommand.self),
    Command(
      name: "states", purpose: "the states and the changes between them",
      options: output + [("--format", .words(StatesCommand.Form.allCases.map(\.rawValue))), profile],
      help: Help.states, action: StatesCommand.self),
    Command(
      name: "names", purpose: "every event with its raw name", options: [json], help: Help.names,
      action: NamesCommand.self),
    Command(
      name: "completion", purpose: "words for a shell to complete", options: [], help: Help.completion,
      action: Completion.self),
  ]

  /// The options for completion and suggestions.
  var optionsAndHelp: [Option] { options + [("--help", nil)] }

  /// Returns the command of a name; nil if there is none.
  static func named(_ name: String?) -> Command? { all.first { $0.name == name } }

  /// The names of all commands, in quotes.
  static var list: String { all.map { "'\($0.name)'" }.joined(separator: ", ") }

  /// Runs the command that the arguments name, without the program's name.
  @MainActor static func run(_ arguments: ArraySlice<String>) async throws -> ExitStatus {
    let help: String
    switch arguments.first {
    case nil: throw UsageError("a command is missing; there is \(list)")
    case "--help", "-h": help = Help.overview
    case "help": help = try Help.text(of: arguments.dropFirst().first)
    case let name?:
      guard let command = named(name) else { throw UsageError(unknownCommand: name) }
      var arguments = Arguments(arguments.dropFirst(), of: command)
      if !arguments.asksForHelp { return try await command.action.init(&arguments).run() }
      help = command.help
    }
    try StandardStreams.write(help, to: .output)
    return .success
  }
}
