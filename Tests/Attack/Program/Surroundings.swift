import AttackCore
import Glibc
import PseudoTerminal

/// Makes a round's conditions: a script that starts the program under them, and what the system refuses once it runs.
struct Surroundings {
  private let conditions: Set<Condition>
  private let directory: TemporaryDirectory
  /// The service manager that waits for another process; nil without one.
  private let manager: ServiceManagerDouble?

  init(_ round: Round, in directory: TemporaryDirectory) throws {
    conditions = round.conditions
    self.directory = directory
    manager =
      conditions.contains(.variables(.manager)) ? try ServiceManagerDouble(.abstract, in: directory) : nil
    // The program may be another user's.
    if conditions.contains(.noThreads) { chmod(directory.path, 0o777) }
  }

  // MARK: Before the start

  /// A script that replaces itself by the program, after it has made what the program finds.
  func script(for command: String) -> String {
    var lines: [String] = []
    var words: [String] = []
    var variables: [String] = []
    for condition in conditions.sorted(by: { $0.description < $1.description }) {
      switch condition {
      case .variables(let kind): variables += self.variables(kind)
      case .ignored(let signal): variables.insert("--ignore-signal=\(signal.number)", at: 0)
      case .blocked: variables.insert("--block-signal", at: 0)
      case .streams(let streams): lines.append("exec \(Self.redirections(streams))")
      case .child(let child): lines.insert(Self.start(of: child), at: 0)
      case .firstProcess: words += ["--pid", "--fork", "--mount-proc"]
      case .otherClocks: words += ["--time", "--monotonic", Self.tenYears, "--boottime", Self.tenYears]
      case .noThreads, .fullDisk: break
      }
    }
    let spaces = words.isEmpty ? "" : "unshare \(words.joined(separator: " ")) "
    let environment = variables.isEmpty ? "" : "env \(variables.joined(separator: " ")) "
    return (lines + ["exec \(spaces)\(environment)\(command)"]).joined(separator: "\n") + "\n"
  }

  /// What comes before the command line, wrapper and all.
  var prefix: String { conditions.contains(.noThreads) ? "\(Self.otherUser.joined(separator: " ")) " : "" }

  private static let tenYears = "315360000"
  /// The superuser may always make threads.
  private static let otherUser = ["setpriv", "--reuid=65534", "--clear-groups"]

  private func variables(_ kind: Condition.Variables) -> [String] {
    switch kind {
    case .manager:
      [
        "NOTIFY_SOCKET='\(manager?.address ?? "")'", "WATCHDOG_USEC=500000", "WATCHDOG_PID=1", "MAINPID=1",
        "SYSTEMD_EXEC_PID=1", "INVOCATION_ID=0123456789abcdef0123456789abcdef", "JOURNAL_STREAM=8:1",
      ]
    case .sockets:
      ["LISTEN_FDS=3", "LISTEN_PID=1", "LISTEN_FDNAMES=a:b:c", "WATCHDOG_USEC=500000", "WATCHDOG_PID=1"]
    case .wrong:
      [
        "NOTIFY_SOCKET=nowhere", "WATCHDOG_USEC=-1", "WATCHDOG_PID=x", "LISTEN_FDS=many", "TERM=nothing",
        "COLUMNS=0", "LINES=-1", "TZ=No/Where", "LC_ALL=xx_YY", "HOME=", "MEMORY_PRESSURE_WATCH=/nonexistent",
        "APP_LIFECYCLE_HOST=sofa",
      ]
    case .none: ["-i", "SWIFT_BACKTRACE=enable=no", "LD_LIBRARY_PATH=\"$LD_LIBRARY_PATH\""]
    }
  }

  private static func redirections(_ streams: Condition.Streams) -> String {
    switch streams {
    case .inputClosed: "0<&-"
    case .inputFromNull: "0</dev/null"
    case .errorsClosed: "2>&-"
    case .errorsToNull: "2>/dev/null"
    case .outputToNull: ">/dev/null"
    case .allClosed: "0<&- 1>&- 2>&-"
    }
  }

  private static func start(of child: Condition.Child) -> String {
    switch child {
    case .ends: "sleep 1000 &"
    case .ignoresOrders: "(trap '' TERM INT HUP QUIT TSTP; exec sleep 1000) &"
    case .hasStopped: "sleep 1000 &\nkill -STOP $!"
    // Its status is the program's to read, which knows nothing of it.
    case .hasEnded: "true &"
    }
  }

  // MARK: Once the program runs

  /// Takes from the running program what the round says.
  func restrict(_ pid: Int32) async throws {
    var limits: [String] = []
    if conditions.contains(.noThreads) { limits.append("--nproc=0:0") }
    if conditions.contains(.fullDisk(.fileLimit)) { limits.append("--fsize=0:0") }
    if conditions.contains(.fullDisk(.noRoom)) { fill() }
    guard !limits.isEmpty else { return }
    // As the program's own user: a container's superuser may be refused another's limits.
    let user = conditions.contains(.noThreads) ? Self.otherUser : []
    try await Self.run(user + ["prlimit", "--pid", "\(pid)"] + limits)
  }

  /// Writes until there is no room.
  private func fill() {
    let file = open("\(disk)/filler", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    defer { close(file) }
    let zeros = [UInt8](repeating: 0, count: 4_096)
    while write(file, zeros, zeros.count) > 0 {}
  }

  /// Where the program's files are.
  var disk: String { conditions.contains(.fullDisk(.noRoom)) ? directory.file("disk") : directory.path }

  /// What the service manager was told by a process that is not its own.
  var notices: [String] { manager?.lines ?? [] }

  /// Runs `body` with the disk that the round says.
  func withDisk<Result>(_ body: () async throws -> Result) async throws -> Result {
    guard conditions.contains(.fullDisk(.noRoom)) else { return try await body() }
    mkdir(disk, 0o755)
    try await Self.run(["mount", "-t", "tmpfs", "-o", "size=1m,mode=777", "attack", disk])
    return try await running(body) { try await Self.run(["umount", "--lazy", disk]) }
  }

  private struct Refused: Error, CustomStringConvertible {
    let description: String
  }

  private static func run(_ command: [String]) async throws {
    let program = try await runProgram(command)
    guard program.ending == .exited(0) else {
      let reason = program.errors.split(separator: "\n").first ?? "\(program.ending)"
      throw Refused(description: "\(command.joined(separator: " ")): \(reason)")
    }
  }

  // MARK: What the machine allows

  /// The conditions that cannot be made here, each with the reason.
  static func impossible() async -> [(Condition, String)] {
    var found: [(Condition, String)] = []
    func attempt(_ condition: Condition, _ body: () async throws -> Void) async {
      do { try await body() } catch { found.append((condition, "\(error)")) }
    }
    await attempt(.firstProcess) { try await run(["unshare", "--pid", "--fork", "--mount-proc", "true"]) }
    await attempt(.otherClocks) {
      try await run(["unshare", "--time", "--monotonic", tenYears, "--boottime", tenYears, "true"])
    }
    await attempt(.noThreads) { try await run(otherUser + [builtProduct("PregTracker"), "--help"]) }
    await attempt(.fullDisk(.noRoom)) {
      try await withTemporaryDirectory { directory in
        try await run(["mount", "-t", "tmpfs", "-o", "size=1m", "attack", directory.path])
        try await run(["umount", directory.path])
      }
    }
    return found
  }
}
