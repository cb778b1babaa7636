import AppLifecycle

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Messages for the person at the terminal, or for the log of a service.
///
/// Written without buffers or locks: whoever holds those may be what is reported.
enum StandardError {
  /// Writes a line that begins with the program's name.
  static func report(_ message: String) {
    let program = CommandLine.arguments.first?.split(separator: "/").last ?? "program"
    var rest = Array("\(program): \(message)\n".utf8)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
      guard count > 0 else { return }
      rest = rest.dropFirst(count)
    }
  }

  /// Names who overran which budget.
  static func report(_ overrun: BudgetOverrun) {
    let who = overrun.culprits.isEmpty ? "the main actor did not answer" : overrun.culprits.joined(separator: ", ")
    report("\(overrun.callback.rawValue) overran its budget of \(overrun.budget): \(who)")
  }
}
