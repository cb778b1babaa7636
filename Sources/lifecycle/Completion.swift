/// `lifecycle completion`: prints a script that lets a shell complete the tool's words.
enum Completion: String, CaseIterable {
  case bash, zsh, fish

  /// The script.
  var script: String {
    switch self {
    case .bash: Self.bashScript
    case .zsh: Self.zshScript
    case .fish: Self.fishScript
    }
  }

  /// The commands, each with its purpose and its options, and the values of each option.
  ///
  /// No text here has an apostrophe: the shells quote with it.
  static let commands: [(name: String, purpose: String, options: [(name: String, values: [String])], takesFile: Bool)] =
    [
      (
        "simulate", "play a script on a simulated system",
        [("--profile", ["app", "scene"]), ("--format", ["table", "jsonl"]), ("--replay", [])], false
      ),
      (
        "log", "the events of a program",
        [("--follow", [])] + Selection.options + [("--json", []), ("--color", ["auto", "always", "never"])], true
      ),
      ("sessions", "one line for each run", [("--json", []), ("--color", ["auto", "always", "never"])], true),
      (
        "timeline", "a picture of the runs",
        [("-o", []), ("--format", ["html", "json"])] + Selection.options, true
      ),
      (
        "states", "the states and the changes between them",
        [("-o", []), ("--format", StatesCommand.Form.allCases.map(\.rawValue)), ("--profile", ["app", "scene"])], false
      ),
      ("names", "every event with its raw name", [("--json", [])], false),
      ("completion", "words for a shell to complete", [], false),
    ]

  /// The command that explains the others.
  private static let help = (name: "help", purpose: "how to use a command")

  private static let names = commands.map(\.name).joined(separator: " ")

  private static let bashScript: String = {
    var script = "_lifecycle() {\n  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} words=\n"
    script +=
      "  if [ \"$COMP_CWORD\" = 1 ]; then\n    COMPREPLY=($(compgen -W '\(names) \(help.name)' -- \"$word\"))\n    return\n  fi\n"
    script += "  case ${COMP_WORDS[1]}:$before:$word in\n"
    for command in commands {
      for option in command.options where !isFlag(option.name) {
        // If there are no words, bash completes file names, because of `-o default`.
        script += "  \(command.name):\(option.name):*) words='\(option.values.joined(separator: " "))' ;;\n"
      }
    }
    script += "  completion:*) words='bash zsh fish' ;;\n  \(help.name):*) words='\(names)' ;;\n"
    for command in commands where !command.options.isEmpty {
      script += "  \(command.name):*:-*) words='\(command.options.map(\.name).joined(separator: " ")) --help' ;;\n"
    }
    script += "  esac\n  COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
    return script + "}\ncomplete -o default -F _lifecycle lifecycle\n"
  }()

  /// Whether an option takes no value.
  private static func isFlag(_ option: String) -> Bool { ["--json", "--follow"].contains(option) }

  private static let zshScript: String = {
    var script = "#compdef lifecycle\n_lifecycle() {\n  local -a commands=(\n"
    for command in commands { script += "    '\(command.name):\(command.purpose)'\n" }
    script += "  )\n  if (( CURRENT == 2 )); then\n    commands+=('\(help.name):\(help.purpose)')\n"
    script += "    _describe command commands\n    return\n  fi\n  case $words[2] in\n"
    script += "  \(help.name)) (( CURRENT == 3 )) && _describe command commands ;;\n"
    for command in commands {
      var specs = command.options.map { option in
        switch option.values {
        case _ where isFlag(option.name): "'\(option.name)'"
        case []: "'\(option.name)=:value:_files'"
        default: "'\(option.name)=:value:(\(option.values.joined(separator: " ")))'"
        }
      }
      if command.takesFile { specs.append("'*:journal:_files'") }
      if command.name == "completion" { specs.append("':shell:(bash zsh fish)'") }
      script += "  \(command.name)) shift words; (( CURRENT-- )); _arguments \(specs.joined(separator: " ")) ;;\n"
    }
    return script
      + "  esac\n}\nif [ \"$funcstack[1]\" = _lifecycle ]; then _lifecycle \"$@\"; else compdef _lifecycle lifecycle; fi\n"
  }()

  private static let fishScript: String = {
    var script = ""
    for command in commands {
      script += "complete -c lifecycle -n __fish_use_subcommand -f -a \(command.name) -d '\(command.purpose)'\n"
      for option in command.options {
        let name = option.name.hasPrefix("--") ? "-l \(option.name.dropFirst(2))" : "-s \(option.name.dropFirst())"
        let value =
          option.values.isEmpty
          ? (isFlag(option.name) ? "" : " -r") : " -x -a '\(option.values.joined(separator: " "))'"
        script += "complete -c lifecycle -n '__fish_seen_subcommand_from \(command.name)' \(name)\(value)\n"
      }
    }
    script += "complete -c lifecycle -n __fish_use_subcommand -f -a \(help.name) -d '\(help.purpose)'\n"
    for command in commands {
      script +=
        "complete -c lifecycle -n '__fish_seen_subcommand_from \(help.name); and not __fish_seen_subcommand_from "
      script += "\(names)' -f -a \(command.name) -d '\(command.purpose)'\n"
    }
    script += "complete -c lifecycle -n '__fish_seen_subcommand_from \(help.name)' -f\n"
    return script + "complete -c lifecycle -n '__fish_seen_subcommand_from completion' -f -a 'bash zsh fish'\n"
  }()
}
