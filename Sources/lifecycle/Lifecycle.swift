import AppLifecycleTesting
import UnixHost

/// The command-line tool: shows the life cycle of an application without writing one.
@main struct Lifecycle {
  /// Runs the command that the arguments ask for, and ends the process with its status.
  @MainActor static func main() {
    // A reader that needs no more closes the pipe. `write` reports that, and it counts as an ordinary end.
    signal(SIGPIPE, SIG_IGN)
    // A write beyond the limit of a file's size fails, and is reported, as one on a full disk.
    signal(SIGXFSZ, SIG_IGN)
    StandardStreams.holdClosed()
    // The main actor stays on the first thread, as the host of a terminal needs it.
    MainLoop.run { await run(CommandLine.arguments.dropFirst()).rawValue }
  }

  @MainActor private static func run(_ arguments: ArraySlice<String>) async -> ExitStatus {
    do {
      return try await Command.run(arguments)
    } catch let error as UsageError {
      // The message names the command's own help if the command is known.
      let command = Command.named(arguments.first).map { "\($0.name) " } ?? ""
      return complain("lifecycle: \(error.message)\nTry 'lifecycle \(command)--help'.", .usage)
    } catch let error as ScriptError {
      return complain(error.description, .badScript)
    } catch let error as Complaint {
      return complain(error.message, error.status)
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
