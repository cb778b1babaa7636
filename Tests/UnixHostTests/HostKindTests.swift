import AppLifecycle
import Testing

@testable import UnixHost

/// Which host `@main` starts, and whether a service manager's variables are meant for this process.
@Suite struct HostKindTests {
  @Test(arguments: [
    (false, false, false, true, HostKind.terminal), (false, false, true, true, .service),
    (false, false, false, false, .service), (true, false, false, true, .terminal),
    (true, false, false, false, .service),
    (false, true, false, true, .service), (true, true, false, true, .terminal), (true, true, true, true, .service),
  ])
  func mainStartsTheRightHost(
    isForTerminal: Bool, isForService: Bool, isManaged: Bool, hasTerminal: Bool, kind: HostKind
  ) {
    #expect(
      HostKind(
        isForTerminal: isForTerminal, isForService: isForService, isManaged: isManaged, hasTerminal: hasTerminal)
        == kind)
  }

  private func isMain(
    _ variables: [String: String], process: Int32 = 42, parent: Int32 = 7, hasTerminal: Bool = true
  ) -> Bool {
    ProcessFacts(process: process, parent: parent, hasTerminal: hasTerminal).isMainProcess { variables[$0] }
  }

  @Test func atATerminalTheVariablesNeedEvidence() {
    // A shell of a user, which inherited them from the service under which it runs.
    #expect(!isMain([:]))
    #expect(!isMain(["SYSTEMD_EXEC_PID": "7"]))
    #expect(!isMain(["SYSTEMD_EXEC_PID": "7"], parent: 1))
    #expect(!isMain(["WATCHDOG_PID": "7"]))
    // A unit with `StandardInput=tty`.
    #expect(isMain(["SYSTEMD_EXEC_PID": "42"]))
    #expect(isMain(["SYSTEMD_EXEC_PID": "42", "WATCHDOG_PID": "7"]))
    #expect(isMain(["WATCHDOG_PID": "42"]))
    // The same under a manager that sets neither, and under a container's init.
    #expect(isMain([:], parent: 1))
    // A container with a terminal.
    #expect(isMain(["SYSTEMD_EXEC_PID": "7"], process: 1, parent: 0))
    // The user says so.
    #expect(isMain(["SYSTEMD_EXEC_PID": "7", "APP_LIFECYCLE_HOST": "service"]))
    #expect(!isMain(["SYSTEMD_EXEC_PID": "7", "APP_LIFECYCLE_HOST": "terminal"]))
    #expect(!isMain(["SYSTEMD_EXEC_PID": "x"]))
  }

  /// A wrapper script may be the unit's main process.
  @Test func withoutATerminalTheyCount() {
    #expect(isMain([:], hasTerminal: false))
    #expect(isMain(["SYSTEMD_EXEC_PID": "7"], hasTerminal: false))
  }

  /// What tells the manager nothing, or would mean another process to it, is not said.
  @Test func theProcessIsAnnouncedIfItIsNotTheOneThatWasStarted() {
    func announced(_ variables: [String: String], process: Int32 = 42) -> Int32? {
      let facts = ProcessFacts(process: process, parent: 7, hasTerminal: false)
      return facts.announcedNumber({ variables[$0] }, ancestors: { [7, 5, 1] })
    }
    // Behind wrapper scripts, and under a manager that does not say what it has started.
    #expect(announced(["SYSTEMD_EXEC_PID": "5"]) == 42)
    #expect(announced([:]) == 42)
    #expect(announced(["WATCHDOG_PID": "7"]) == 42)
    // The manager knows it.
    #expect(announced(["SYSTEMD_EXEC_PID": "42"]) == nil)
    #expect(announced(["WATCHDOG_PID": "42"]) == nil)
    // In a name space of process numbers.
    #expect(announced(["SYSTEMD_EXEC_PID": "4711"]) == nil)
    #expect(announced([:], process: 1) == nil)
  }

  /// The manager starts it to reload or stop the unit, and gives it the unit's variables.
  @Test(arguments: [false, true]) func aControlProcessIsNotTheMainOne(hasTerminal: Bool) {
    #expect(!isMain(["MAINPID": "7", "SYSTEMD_EXEC_PID": "42"], hasTerminal: hasTerminal))
    #expect(isMain(["MAINPID": "42", "SYSTEMD_EXEC_PID": "42"], hasTerminal: hasTerminal))
  }

  private func environment(_ variables: [String: String?], hasTerminal: Bool = false) -> ServiceEnvironment {
    ServiceEnvironment(ProcessFacts(process: 42, parent: 7, hasTerminal: hasTerminal)) { variables[$0] ?? nil }
  }

  @Test(
    arguments: [
      ("4000000", nil, Duration.seconds(4)), ("4000000", "42", .seconds(4)), ("4000000", "43", nil),
      ("4000000", "x", nil), ("0", nil, nil), ("-5", nil, nil), ("x", nil, nil), (nil, "42", nil),
    ] as [(String?, String?, Duration?)])
  func aWatchdogHasToBeOurs(microseconds: String?, process: String?, watchdog: Duration?) {
    let variables = ["NOTIFY_SOCKET": "/run/notify", "WATCHDOG_USEC": microseconds, "WATCHDOG_PID": process]
    #expect(environment(variables).watchdog == watchdog)
  }

  @Test func aManagerThatReceivesNothingHasAReason() {
    #expect(environment([:]) == environment(["NOTIFY_SOCKET": ""]))
    #expect(environment([:]).obstacle == nil)
    #expect(environment(["NOTIFY_SOCKET": "relative"]).obstacle == .isOutOfReach)
    let inherited = environment(["NOTIFY_SOCKET": "/run/notify", "WATCHDOG_USEC": "9"], hasTerminal: true)
    #expect(inherited.obstacle == .isForAnotherProcess)
    #expect(inherited.address == nil && inherited.watchdog == nil)
  }
}
