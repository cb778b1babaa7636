import AppLifecycleTesting

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The command-line tool: shows the life cycle of an application without writing one.
@main struct Lifecycle {
  /// Runs the command that the arguments ask for, and ends the process with its status.
  @MainActor static func main() async {
    // A reader that needs no more closes the pipe. `write` reports that, and it counts as an ordinary end.
    signal(SIGPIPE, SIG_IGN)
    StandardStreams.holdClosed()
    let status = await run(CommandLine.arguments.dropFirst())
    exit(status.rawValue)
  }

  @MainActor private static func run(_ arguments: ArraySlice<String>) async -> ExitStatus {
    do {
      switch try Command(arguments) {
      case .help(let text): try StandardStreams.write(text, to: .output)
      case .simulate(let simulation): try await simulation.run()
      case .log(let log): return try log.run()
      case .sessions(let sessions): return try sessions.run()
      case .timeline(let timeline): return try timeline.run()
      case .names(let names): return try names.run()
      case .states(let states): return try states.run()
      case .completion(let shell): try StandardStreams.write(shell.script, to: .output)
      }
      return .success
    } catch let error as UsageError {
      // The message names the command's own help if the command is known.
      let command = arguments.first.flatMap { Help.commands.contains($0) ? "\($0) " : nil } ?? ""
      return complain("lifecycle: \(error.message)\nTry 'lifecycle \(command)--help'.", .usage)
    } catch let error as ScriptError {
      return complain(error.description, .badScript)
    } catch let error as Trace.Damage {
      return complain(error.description, .badScript)
    } catch let error as SessionChoice.Missing {
      return complain("lifecycle: \(error.description)", .damaged)
    } catch let error as StandardStreams.Failure {
      return error.isClosedPipe ? .success : complain("lifecycle: \(error.description)", .inputOutput)
    } catch {
      return complain("lifecycle: \(error)", .inputOutput)
    }
  }

  private static func complain(_ message: String, _ status: ExitStatus) -> ExitStatus {
    // A failure of standard error cannot be reported.
    try? StandardStreams.write(message + "\n", to: .error)
    return status
  }
}

/// The exit status of the tool.
enum ExitStatus: Int32 {
  case success = 0
  /// The journal was read, and something in it is damaged or missing.
  case damaged = 1
  /// The script, or the trace that was to be replayed, has a mistake; nothing was played.
  case badScript = 2
  /// The arguments are invalid: EX_USAGE of `sysexits.h`.
  case usage = 64
  /// Reading or writing failed: EX_IOERR of `sysexits.h`.
  case inputOutput = 74
}
