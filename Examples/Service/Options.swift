import UnixHost

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// What the command line asks for.
struct Options {
  /// `--port N`; 0 for one that is free.
  private(set) var port: UInt16 = 0
  /// `--greeting FILE`: its first line is said to each client; read again at SIGHUP.
  private(set) var greetingPath: String?
  /// `--journal FILE`: where the run is recorded.
  private(set) var journalPath: String?
  /// `--drain MS`: how long a client may take to finish its line once the service is to end; less than the budget.
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
