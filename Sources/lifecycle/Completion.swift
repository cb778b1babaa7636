/// `lifecycle completion`: prints a script that lets a shell complete the tool's words.
enum Completion: String, CaseIterable, Action {
  case bash, zsh, fish

  init(_ arguments: inout Arguments) throws(UsageError) {
    _ = try arguments.nextOption()
    guard arguments.operands.count == 1, let shell = Completion(rawValue: arguments.operands[0]) else {
      throw UsageError("'completion' needs a shell: bash, zsh or fish")
    }
    self = shell
  }

  func run() throws -> ExitStatus {
    try StandardStreams.write(script, to: .output)
    return .success
  }

  private var script: String {
    switch self {
    case .bash: Self.bashScript
    case .zsh: Self.zshScript
    case .fish: Self.fishScript
    }
  }

  /// The command that explains the others.
  private static let help = (name: "help", purpose: "how to use a command")

  private static let commands = Command.all
  private static let names = commands.map(\.name).joined(separator: " ")
  private static let shells = allCases.map(\.rawValue).joined(separator: " ")

  private static let bashScript: String = {
    var script = "_lifecycle() {\n  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} words=\n"
    script +=
      "  if [ \"$COMP_CWORD\" = 1 ]; then\n    COMPREPLY=($(compgen -W '\(names) \(help.name)' -- \"$word\"))\n    return\n  fi\n"
    script += "  case ${COMP_WORDS[1]}:$before:$word in\n"
    for command in commands {
      for case (let option, let value?) in command.options {
        // If there are no words, bash completes file names, because of `-o default`.
        script += "  \(command.name):\(option):*) "
        switch value {
        case .file: script += ";;\n"
        case .text: script += "compopt +o default 2>/dev/null ;;\n"
        case .words(let words): script += "words='\(words.joined(separator: " "))' ;;\n"
        }
      }
    }
    script += "  completion:*) words='\(shells)' ;;\n  \(help.name):*) words='\(names)' ;;\n"
    for command in commands {
      script += "  \(command.name):*:-*) words='\(command.optionsAndHelp.map(\.name).joined(separator: " "))' ;;\n"
    }
    script += "  esac\n  COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
    return script + "}\ncomplete -o default -F _lifecycle lifecycle\n"
  }()

  private static let zshScript: String = {
    var script = "#compdef lifecycle\n_lifecycle() {\n  local -a commands=(\n"
    for command in commands { script += "    '\(command.name):\(command.purpose)'\n" }
    script += "  )\n  if (( CURRENT == 2 )); then\n    commands+=('\(help.name):\(help.purpose)')\n"
    script += "    _describe command commands\n    return\n  fi\n  case $words[2] in\n"
    script += "  \(help.name)) (( CURRENT == 3 )) && _describe command commands ;;\n"
    for command in commands {
      var specs = command.optionsAndHelp.map { option in
        switch option.value {
        case nil: "'\(option.name)'"
        case .file: "'\(option.name)=:value:_files'"
        case .text: "'\(option.name)=:value: '"
        case .words(let words): "'\(option.name)=:value:(\(words.joined(separator: " ")))'"
        }
      }
      if command.takesFile { specs.append("'*:journal:_files'") }
      if command.name == "completion" { specs.append("':shell:(\(shells))'") }
      script += "  \(command.name)) shift words; (( CURRENT-- )); _arguments \(specs.joined(separator: " ")) ;;\n"
    }
    return script
      + "  esac\n}\nif [ \"$funcstack[1]\" = _lifecycle ]; then _lifecycle \"$@\"; else compdef _lifecycle lifecycle; fi\n"
  }()

  private static let fishScript: String = {
    var script = ""
    for command in commands {
      script += "complete -c lifecycle -n __fish_use_subcommand -f -a \(command.name) -d '\(command.purpose)'\n"
      for option in command.optionsAndHelp {
        let name = option.name.hasPrefix("--") ? "-l \(option.name.dropFirst(2))" : "-s \(option.name.dropFirst())"
        let value =
          switch option.value {
          case nil: ""
          case .file: " -r"
          case .text: " -x"
          case .words(let words): " -x -a '\(words.joined(separator: " "))'"
          }
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
    return script + "complete -c lifecycle -n '__fish_seen_subcommand_from completion' -f -a '\(shells)'\n"
  }()
}
