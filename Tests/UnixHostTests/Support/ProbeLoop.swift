import Glibc
import PseudoTerminal

/// The main loop of a probe: each probe is built twice.
enum ProbeLoop: String, CaseIterable, Sendable {
  /// The loop that needs no Foundation.
  case plain
  /// The run loop of Foundation, which the probe links.
  case foundation

  /// The loop of tests that are about something else: `MAIN_LOOP=foundation` in the environment runs them on the run loop.
  static let chosen = getenv("MAIN_LOOP").flatMap { ProbeLoop(rawValue: String(cString: $0)) } ?? .plain

  /// The path of a probe with this loop.
  ///
  /// A link in the test's directory gives both builds one name, which is in their messages.
  func path(of program: String, in directory: TemporaryDirectory) throws -> String {
    guard self == .foundation else { return builtProduct(program) }
    let link = directory.file(program)
    guard symlink(builtProduct("Foundation\(program)"), link) == 0 else { throw SystemError("symlink \(link)") }
    return link
  }
}
