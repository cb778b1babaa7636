import CPseudoTerminal
import Glibc

/// What happened to a child process.
package enum ChildEvent: Sendable, Equatable {
  /// A signal stopped it.
  case stopped(Int32)
  /// SIGCONT let it go on.
  case continued
  /// It ended with this status.
  case exited(Int32)
  /// A signal ended it.
  case killed(Int32)
}

/// A direct child of the test, with what happens to it as a sequence of events.
///
/// A thread of its own waits for the child. One that leads a session stays on the process table until ``end()``, so that the
/// session's number cannot come to mean another one while members of it may have to be found. Any other is taken off at once:
/// the testing library's thread that waits for its own children looks again and again, without a pause, at one that no parent
/// takes off.
package final class ChildProcess: Sendable {
  private struct Life: Sendable {
    var events: [ChildEvent] = []
    var taken = 0
    var ending: ChildEvent?
    var isReaped = false
  }

  /// The process number.
  package let pid: Int32
  private let life: Monitor<Life>
  private let leadsSession: Bool

  /// Starts a program on the terminal with this slave, as the leader of a session of its own.
  ///
  /// `atEnd` runs on the watching thread when the program has ended.
  convenience init(
    _ arguments: [String], environment: [String: String], terminal: String, directory: String?,
    atEnd: @escaping @Sendable () -> Void
  ) throws {
    try self.init(
      arguments, environment: environment, terminal: terminal, descriptors: (-1, -1, -1), directory: directory,
      atEnd: atEnd)
  }

  /// Starts a program with these three descriptors, in the test's own session or one without a terminal; -1 stands for
  /// /dev/null.
  package convenience init(
    _ arguments: [String], environment: [String: String], descriptors: (Int32, Int32, Int32), directory: String?,
    inOwnSession: Bool = false
  ) throws {
    try self.init(
      arguments, environment: environment, terminal: nil, descriptors: descriptors, directory: directory,
      inOwnSession: inOwnSession, atEnd: {})
  }

  private init(
    _ arguments: [String], environment: [String: String], terminal: String?, descriptors: (Int32, Int32, Int32),
    directory: String?, inOwnSession: Bool = false, atEnd: @escaping @Sendable () -> Void
  ) throws {
    func copies(_ strings: [String]) -> [UnsafeMutablePointer<CChar>?] { strings.map { strdup($0) } + [nil] }
    let argumentList = copies(arguments)
    let environmentList = copies(environment.map { "\($0.key)=\($0.value)" })
    let terminal = terminal.map { strdup($0)! }
    let directory = directory.map { strdup($0)! }
    defer {
      for copy in argumentList + environmentList { free(copy) }
      free(terminal)
      free(directory)
    }
    var start = cpt_start(
      terminal: terminal, descriptors: descriptors, leads_session: inOwnSession ? 1 : 0, directory: directory)
    var pid: Int32 = 0
    let error = cpt_spawn(&start, argumentList, environmentList, &pid)
    guard error == 0 else { throw SystemError("posix_spawn \(arguments[0])", code: error) }
    self.pid = pid
    let life = Monitor(Life()) { "the events \($0.events)" }
    self.life = life
    leadsSession = terminal != nil
    startThread { [pid, leadsSession] in
      Self.watch(pid, life, leadsSession: leadsSession)
      atEnd()
    }
  }

  private static func watch(_ pid: Int32, _ life: Monitor<Life>, leadsSession: Bool) {
    while true {
      var kind = CPT_EXITED
      var value: Int32 = 0
      // Fails only once other code has reaped the child, which none does.
      guard cpt_wait(pid, &kind, &value) == 0 else { return }
      let event: ChildEvent =
        switch kind {
        case CPT_STOPPED: .stopped(value)
        case CPT_CONTINUED: .continued
        case CPT_KILLED: .killed(value)
        default: .exited(value)
        }
      let isEnding = kind == CPT_EXITED || kind == CPT_KILLED
      life.update { life in
        life.events.append(event)
        guard isEnding else { return }
        if !leadsSession {
          // In here, as a signal is: its number may mean another process afterwards.
          _ = cpt_reap(pid)
          life.isReaped = true
        }
        life.ending = event
      }
      if isEnding { return }
    }
  }

  /// The next event that no one has taken yet.
  package func nextEvent(within limit: Duration = .seconds(240)) async throws -> ChildEvent {
    try await life.wait(for: "an event of child \(pid)", within: limit) { life in
      guard life.taken < life.events.count else { return nil }
      life.taken += 1
      return life.events[life.taken - 1]
    }
  }

  /// How the child ended, once it has; events before that are passed over.
  package func ending(within limit: Duration = .seconds(240)) async throws -> ChildEvent {
    try await life.wait(for: "the end of child \(pid)", within: limit) { $0.ending }
  }

  /// Sends a signal; to a child that has ended without effect.
  package func signal(_ signal: Int32) {
    life.update { life in
      if !life.isReaped { kill(pid, signal) }
    }
  }

  /// Kills the child if it has not ended, waits for its end and takes it off the process table.
  package func end() async {
    signal(SIGKILL)
    // The thread that watches it takes it off.
    guard leadsSession else { return _ = try? await ending() }
    let pid = pid
    // A child that SIGKILL was sent to ends, so this wait needs no deadline.
    await onThread { _ = cpt_reap(pid) }
    life.update { $0.isReaped = true }
  }
}
