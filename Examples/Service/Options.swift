import UnixHost

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The options of the command line.
struct Options {
  /// The port, `--port N`; 0 for any free port.
  private(set) var port: UInt16 = 0
  /// The file of the greeting, `--greeting FILE`: the service sends its first line to each client, and reads it again at SIGHUP.
  private(set) var greetingPath: String?
  /// The file of the journal, `--journal FILE`.
  private(set) var journalPath: String?
  /// The time that a client has to finish its line after the service was told to end, `--drain MS`; less than the budget.
  private(set) var drainTime = Duration.seconds(4)

  init(_ arguments: some Sequence<String>) {
    var rest = Array(arguments)[...]
    while let option = rest.popFirst() {
      switch (option, rest.popFirst()) {
      case ("--port", let text?): port = Self.number(text)
      case ("--greeting", let path?): greetingPath = path
      case ("--journal", let path?): journalPath = path
      case ("--drain", let text?): drainTime = .milliseconds(Self.number(text) as Int)
      case ("--port", nil), ("--greeting", nil), ("--journal", nil), ("--drain", nil):
        Self.fail("Service: \(option) wants a value")
      default:
        StandardError.writeLine("Service: unknown option “\(option.prefix(100))”")
        Self.fail("usage: Service [--port N] [--greeting FILE] [--drain MS] [--journal FILE]")
      }
    }
  }

  private static func number<Number: FixedWidthInteger>(_ text: String) -> Number {
    guard let number = Number(text) else { fail("Service: “\(text.prefix(100))” is no such number") }
    return number
  }

  private static func fail(_ message: String) -> Never {
    StandardError.writeLine(message)
    exit(EX_USAGE)
  }
}
