import Glibc

/// A logind on a system bus of the test's own: a private `dbus-daemon`, and python3-dbusmock's template of logind.
///
/// Both are children of the test. What happens to the double stands in ``log``, a line each; ``tell(_:)`` says what to do.
package final class LogindDouble: Sendable {
  /// What `$DBUS_SYSTEM_BUS_ADDRESS` has to be.
  package var address: String { "unix:path=\(directory.file("bus"))" }
  /// What has happened.
  package let log: LineFile
  private let directory: TemporaryDirectory
  private let commands: Gate
  private let children: Monitor<(bus: ChildProcess?, logind: ChildProcess?)>

  private static let python = "/usr/bin/python3"
  private static let script = String(#filePath.dropLast("PseudoTerminal/LogindDouble.swift".count)) + "logind-double.py"

  /// Why no double can be had here; nil where it can.
  package static func obstacle() async throws -> String? {
    guard installedProgram("dbus-daemon") != nil else { return "dbus-daemon is not installed" }
    guard access(python, X_OK) == 0 else { return "there is no \(python)" }
    let look = try await runProgram([python, "-c", "import dbusmock.templates.logind, gi"])
    return look.ending == .exited(0) ? nil : "python3-dbusmock is not installed"
  }

  private init(_ directory: TemporaryDirectory) throws {
    self.directory = directory
    log = try LineFile(directory.file("logind.log"))
    commands = try Gate(directory.file("logind.commands"))
    children = Monitor((nil, nil))
    try directory.write(
      """
      <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
        "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
      <busconfig>
        <listen>\(address)</listen>
        <auth>EXTERNAL</auth>
        <policy context="default">
          <allow user="*"/> <allow own="*"/> <allow send_destination="*"/> <allow receive_sender="*"/>
        </policy>
      </busconfig>

      """, to: "bus.conf")
  }

  /// Runs `body` with a double to which these things have been told, and ends it afterwards.
  package static func run<Result>(
    in directory: TemporaryDirectory, telling things: [String] = [], _ body: (LogindDouble) async throws -> Result
  ) async throws -> Result {
    let double = try LogindDouble(directory)
    return try await running {
      try await double.start(telling: things)
      return try await body(double)
    } finally: {
      await double.vanish()
    }
  }

  /// Starts the bus, then logind; again after ``vanish()``.
  package func start(telling things: [String] = []) async throws {
    unlink(directory.file("bus"))
    let ready = try LineFile(directory.file("bus.ready"))
    let output = open(ready.path, O_WRONLY | O_TRUNC | O_CLOEXEC)
    defer { close(output) }
    let bus = try ChildProcess(
      ["dbus-daemon", "--config-file=\(directory.file("bus.conf"))", "--nofork", "--print-address=1"],
      environment: bareEnvironment, descriptors: (-1, output, -1), directory: nil)
    children.update { $0.bus = bus }
    try await ready.line(startingWith: "unix:")
    let logind = try ChildProcess(
      [Self.python, Self.script, commands.path, log.path],
      environment: bareEnvironment.merging(["DBUS_SYSTEM_BUS_ADDRESS": address]) { $1 }, descriptors: (-1, -1, 2),
      directory: nil)
    children.update { $0.logind = logind }
    try await log.line(startingWith: "ready")
    for thing in things { try await tell(thing) }
  }

  /// Kills the bus and logind.
  package func vanish() async {
    let (bus, logind) = children.update { children in
      defer { children = (nil, nil) }
      return children
    }
    await bus?.end()
    await logind?.end()
  }

  /// Tells logind what to do, and waits until it has.
  package func tell(_ thing: String) async throws {
    try commands.write(thing + "\n")
    try await log.line(startingWith: "done \(thing.prefix { $0 != " " })")
  }

  /// How many inhibitors are held, in its own words.
  package func openInhibitors() async throws -> String {
    try commands.write("ask\n")
    return try await log.line(startingWith: "open: ")
  }
}
