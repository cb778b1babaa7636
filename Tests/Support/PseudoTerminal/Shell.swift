/// A real shell with job control, as a person has it, but with a bare prompt and no settings of the user's.
package enum Shell: String, Sendable, CaseIterable, CustomStringConvertible {
  case bash, dash, zsh, fish

  /// What the shells here print when they wait for a command.
  package static let prompt = "ready> "

  /// The shell's name.
  package var description: String { rawValue }

  /// Whether it is found in PATH.
  package var isInstalled: Bool { installedProgram(rawValue) != nil }

  private var arguments: [String] {
    switch self {
    case .bash: ["bash", "--norc", "--noprofile", "-i"]
    case .dash: ["dash", "-i"]
    // No line editor and no mark for a missing line end: both draw more than a test wants to see.
    case .zsh: ["zsh", "-f", "-i", "+Z", "-o", "no_prompt_sp", "-o", "no_prompt_cr"]
    case .fish: ["fish", "--no-config", "-i", "-C", "function fish_prompt; echo -n '\(Self.prompt)'; end"]
    }
  }

  private var environment: [String: String] {
    // Bash would otherwise wrap its prompt in bracketed paste; its line editor reads this file first.
    ["PS1": Self.prompt, "PROMPT": Self.prompt, "ENV": "", "HISTFILE": "", "INPUTRC": "/dev/null"]
  }

  /// What the shell prints when a job has stopped, in its own way of putting it.
  package var stopMark: String {
    switch self {
    case .bash, .dash: "Stopped"
    case .zsh: "suspended"
    case .fish: "has stopped"
    }
  }

  /// The variable that holds the last command's exit status.
  package var status: String { self == .fish ? "$status" : "$?" }

  /// Runs `body` with the shell on a terminal of its own, at its first prompt; then ends the whole session.
  package func run<Result>(
    rows: Int = 24, columns: Int = 80, environment: [String: String] = [:], directory: String? = nil,
    _ body: (PseudoTerminal) async throws -> Result
  ) async throws -> Result {
    try await PseudoTerminal.run(
      arguments, environment: self.environment.merging(environment) { $1 }, rows: rows, columns: columns,
      directory: directory
    ) { terminal in
      try await terminal.prompt()
      return try await body(terminal)
    }
  }
}

extension PseudoTerminal {
  /// Waits for the shell's next prompt and returns what was printed before it.
  @discardableResult package func prompt(within limit: Duration = .seconds(240)) async throws -> String {
    let printed = try await wait(for: Shell.prompt, within: limit)
    return String(printed.dropLast(Shell.prompt.count))
  }

  /// Asks the shell for the last command's exit status.
  package func status(in shell: Shell, within limit: Duration = .seconds(240)) async throws -> Int32? {
    line("echo status=\(shell.status).")
    // The echo of the command shows a dollar sign where the answer has digits.
    while true {
      try await wait(for: "status=", within: limit)
      let answer = try await wait(for: ".", within: limit).dropLast()
      if let status = Int32(answer) {
        try await prompt(within: limit)
        return status
      }
    }
  }
}

extension PseudoTerminal {
  /// Waits until the shell says that the job has stopped and prompts again; returns what was printed until then.
  @discardableResult package func jobStops(
    in shell: Shell, within limit: Duration = .seconds(60)
  ) async throws -> String {
    try await wait(for: shell.stopMark, within: limit) + prompt(within: limit)
  }

  /// The terminal's state while a program waits in it: the modes that the shell gives to the next program.
  ///
  /// At its prompt a shell with a line editor has modes of its own, which say nothing.
  package func stateForPrograms(within limit: Duration = .seconds(60)) async throws -> TerminalState {
    // The echo of the command shows a sum where the program prints a number.
    line("sh -c 'echo rests=$((1+1)).; exec head -c 1'")
    try await wait(for: "rests=2.", within: limit)
    guard let modes else { throw WaitFailed(cause: .ended, wanted: "the modes", found: "a closed terminal") }
    let state = TerminalState(modes, screen)
    // One byte, which also ends a program in a terminal without lines.
    send("\r")
    try await prompt(within: limit)
    return state
  }
}
