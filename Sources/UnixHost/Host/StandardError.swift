import AppLifecycle
import CUnixHost

/// Messages for the person at the terminal, or for the log of a service.
///
/// Written without buffers or locks: the thread that holds those may be what is reported. Standard error that takes nothing, such
/// as a terminal that is not read, delays the caller by a quarter of a second at most; then the message is lost.
enum StandardError {
  /// Writes a line that begins with the program's name.
  static func report(_ message: String) {
    let program = CommandLine.arguments.first?.split(separator: "/").last ?? "program"
    let line = Array("\(program): \(message)\n".utf8)
    _ = unixhost_stderr_write(line, line.count)
  }

  /// Names the budget that was overrun, and what overran it.
  static func report(_ overrun: BudgetOverrun) {
    let culprits =
      overrun.culprits.isEmpty ? "the main actor did not answer" : overrun.culprits.joined(separator: ", ")
    report("\(overrun.callback.rawValue) overran its budget of \(overrun.budget): \(culprits)")
  }
}
