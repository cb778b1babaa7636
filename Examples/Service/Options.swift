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
      default: Self.fail("usage: Service [--port N] [--greeting FILE] [--drain MS] [--journal FILE]")
      }
    }
  }

  private static func number<Number: FixedWidthInteger>(_ text: String) -> Number {
    guard let number = Number(text) else { fail("Service: \(text) is no such number") }
    return number
  }

  private static func fail(_ message: String) -> Never {
    writeLine(message)
    exit(EX_USAGE)
  }
}

/// Writes a line to standard error, which a service manager keeps in its log.
///
/// One line, whatever is in the text: a file may hold what would be another line, or a command to a terminal.
func writeLine(_ text: String) {
  let line = text.unicodeScalars.reduce(into: "") {
    $0 += $1.properties.generalCategory == .control ? $1.escaped(asASCII: true) : String($1)
  }
  let bytes = Array("\(line)\n".utf8)
  _ = write(STDERR_FILENO, bytes, bytes.count)
}
