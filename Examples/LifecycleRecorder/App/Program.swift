import AppLifecycle
import AppLifecycleTesting
import ExampleSupport
import Foundation
import UnixHost

/// An experiment with the life cycle: it records every event with the state inside it, and shows the records of earlier launches.
@main enum Program {
  private static let help = """
    usage: LifecycleRecorder [--file PATH] [--table | --script SCRIPT]

      --file PATH       where the events are kept; by default in the user's folder of state
      --table           print the table of all launches, and end
      --script SCRIPT   play a script on a simulated system, and print its table:
                        "launch:background; open; switcher; switcher:kill"

    In a terminal the program shows the table while it grows. Without one it prints it.
    """

  static func main() {
    // A reader that has seen enough ends the writing, and not the program.
    signal(SIGPIPE, SIG_IGN)
    var (path, script, printsTable) = (StateFolder.path("LifecycleRecorder/events.jsonl"), String?.none, false)
    var arguments = CommandLine.arguments.dropFirst()
    while let argument = arguments.popFirst() {
      func value() -> String {
        guard let value = arguments.popFirst() else { fail("\(argument) wants a value", EX_USAGE) }
        return value
      }

      switch argument {
      case "--file": path = value()
      case "--script": script = value()
      case "--table": printsTable = true
      case "--help", "-h": exit(StandardOutput.write(help + "\n", for: "LifecycleRecorder"))
      default: fail("unknown option “\(argument.escaped)”; see --help", EX_USAGE)
      }
    }
    if let script { play(script) }
    guard let path else { fail("--file PATH is needed, as neither XDG_STATE_HOME nor HOME says where", EX_USAGE) }
    do {
      let file = try EventFile(path: path)
      if printsTable || isatty(STDOUT_FILENO) == 0 { exit(show(EventTable(file.earlier))) }
      run(file)
    } catch {
      fail("\(error)", EX_IOERR)
    }
  }

  private static func run(_ file: EventFile) -> Never {
    MainLoop.run {
      let application = Application(delegate: RecorderDelegate(EventRecorder(file: file), process: getpid()))
      Application.adopt(application)
      return await TerminalHost(application: application).run()
    }
  }

  /// Plays a script on a simulated device, which launches the application as often as the script says.
  ///
  /// Its clock begins at midnight.
  private static func play(_ script: String) -> Never {
    MainLoop.run {
      let device = RecorderDevice()
      do {
        try await device.play(script)
      } catch {
        fail("\(error)", 2)
      }
      return show(device.table)
    }
  }

  private static func show(_ table: EventTable) -> CInt {
    StandardOutput.write(table.lines.joined(separator: "\n") + "\n", for: "LifecycleRecorder")
  }

  private static func fail(_ message: String, _ status: CInt) -> Never {
    StandardError.writeLine("LifecycleRecorder: \(message)")
    exit(status)
  }
}
