import Glibc
import PseudoTerminal
import TestTraits
import Testing

/// A real service under a real service manager: a `systemd --user` in name spaces of its own.
///
/// What the double of ``ServiceHostTests`` takes for the protocol, the manager itself has to understand.
@Suite(.serialized, .timeLimit(.hang)) struct ServiceManagerTests {
  /// Ends the test where no manager can be started, and says why.
  func cannot(_ reason: String) throws -> Never {
    print("skipped under a real service manager: \(reason)")
    try Test.cancel("\(reason)")
  }

  /// Runs a script in which `ctl` is the manager's `systemctl`; returns what it printed.
  ///
  /// - Parameters:
  ///   - probe: the service.
  ///   - options: the options of the service.
  ///   - unit: further lines of its unit.
  ///   - socket: the lines of a socket unit of the same name; nil for none.
  ///   - script: the script.
  /// - Returns: the lines that it printed.
  /// - Throws: what ends the test where no manager can be started.
  func underManager(
    _ probe: ProbeSession, options: String, unit: String = "", socket: String? = nil, script: String
  ) async throws -> [String] {
    guard getuid() == 0 else { try cannot("only root may make name spaces here") }
    guard access("/lib/systemd/systemd", X_OK) == 0 else { try cannot("systemd is not installed") }
    guard access("/sys/fs/cgroup/systemd/cgroup.procs", W_OK) == 0 else {
      try cannot("no control group hierarchy of systemd's own")
    }
    let environment = bareEnvironment["LD_LIBRARY_PATH"].map { "Environment=LD_LIBRARY_PATH=\($0)\n" } ?? ""
    try probe.directory.write(
      """
      [Service]
      Type=notify
      NotifyAccess=main
      WatchdogSec=4
      Environment=SWIFT_BACKTRACE=enable=no
      \(environment)ExecStart=\(probe.arguments().joined(separator: " ")) \(options)
      ExecReload=/bin/kill -HUP $MAINPID
      \(unit)

      """, to: "probe.service")
    if let socket { try probe.directory.write("[Socket]\n\(socket)\n", to: "probe.socket") }
    try probe.directory.write(Self.inside(probe.directory.path, script), to: "inside.sh")
    let group = "app-lifecycle-manager-\(getpid())"
    let outside = """
      cd /sys/fs/cgroup/systemd && mkdir \(group) || exit 99
      # A manager that ends removes all empty groups below its own, so it gets one in the second hierarchy as well.
      unified=/sys/fs/cgroup/unified
      [ ! -w $unified/cgroup.procs ] || mkdir $unified/\(group) || exit 99
      (echo $BASHPID > \(group)/cgroup.procs
       [ ! -d $unified/\(group) ] || echo $BASHPID > $unified/\(group)/cgroup.procs
       exec unshare --pid --fork --mount --mount-proc --kill-child bash '\(probe.directory.file("inside.sh"))')
      for hierarchy in /sys/fs/cgroup/*/; do
        [ -d "$hierarchy/\(group)" ] && find "$hierarchy/\(group)" -depth -type d -exec rmdir {} \\;
      done
      true
      """
    let finished = try await runProgram(["bash", "-c", outside], within: .seconds(90))
    let lines = finished.output.split(separator: "\n").map(String.init)
    guard lines.contains("manager runs") else { try cannot("it does not start: \(finished.errors)") }
    return lines
  }

  private static func inside(_ directory: String, _ script: String) -> String {
    """
    set -e
    mount -t tmpfs tmpfs /run
    mkdir -p /run/systemd/system /run/user/0 /run/home/systemd/user
    chmod 700 /run/user/0
    export HOME=/run/home XDG_RUNTIME_DIR=/run/user/0 XDG_CONFIG_HOME=/run/home
    cp '\(directory)'/probe.* /run/home/systemd/user/
    ctl() { systemctl --user "$@" 2>&1; }
    # The socket's file is there before the manager listens, and a start is refused until the manager has started itself.
    await() {
      for _ in $(seq 300); do
        case $(ctl show -p SystemState --value) in running | degraded) return ;; esac
        sleep 0.1
      done
      exit 98
    }
    /lib/systemd/systemd --user --log-target=null >/dev/null 2>&1 &
    manager=$!
    await
    echo "manager runs"
    set +e
    \(script)
    kill $manager
    wait $manager
    exit 0
    """
  }

  @Test func aRealManagerUnderstandsItsServiceFromStartToEnd() async throws {
    try await ProbeSession.run("ServiceProbe") { probe in
      let lines = try await underManager(
        probe, options: "",
        script: """
          ctl start probe; echo "start $?"
          ctl show -p ActiveState -p StatusText probe
          ctl reload probe; echo "reload $?"
          sleep 9
          ctl show -p ActiveState -p NRestarts probe | sed 's/^/after twice the watchdog: /'
          ctl stop probe; echo "stop $?"
          ctl show -p Result -p ExecMainStatus -p ExecMainCode probe
          """)
      for line in [
        "start 0", "ActiveState=active", "StatusText=launched, and in one line", "reload 0",
        "after twice the watchdog: ActiveState=active", "stop 0", "Result=success", "ExecMainStatus=0",
      ] {
        #expect(lines.contains(line), "\(lines)")
      }
      #expect(probe.log.lines.contains("reload end"))
      probe.expectRecords(.launchInBackground("launch"), .terminate("SIGTERM"))
    }
  }

  /// The host's thread lives on, and yet the manager finds out.
  @Test func aRealManagerFindsOutThatTheMainActorIsDead() async throws {
    try await ProbeSession.run("ServiceProbe") { probe in
      let lines = try await underManager(
        probe, options: "--hang-at-reload",
        script: """
          ctl start probe; echo "start $?"
          ctl kill -s HUP probe
          for _ in $(seq 300); do ctl is-failed --quiet probe && break; sleep 0.1; done
          ctl show -p Result probe
          """)
      #expect(lines.contains("start 0"), "\(lines)")
      #expect(lines.contains("Result=watchdog"), "\(lines)")
    }
  }

  /// Its start would last for ever: the manager's own time-out ends it.
  @Test func aRealManagerEndsAStartThatHasGivenUp() async throws {
    try await ProbeSession.run("ServiceProbe") { probe in
      let lines = try await underManager(
        probe, options: "--retries 1 --acquire-failures 2 --extension 500", unit: "TimeoutStartSec=5",
        script: """
          ctl start --no-block probe
          for _ in $(seq 300); do
            ctl show -p StatusText probe | grep -q 'given up' && ctl show -p StatusText probe && break
            sleep 0.1
          done
          for _ in $(seq 300); do ctl is-failed --quiet probe && break; sleep 0.1; done
          ctl show -p Result probe
          """)
      #expect(lines.contains { $0.contains("given up after 2 failures") }, "\(lines)")
      #expect(lines.contains("Result=timeout"), "\(lines)")
    }
  }

  // MARK: Drains

  /// In milliseconds; the one of a real daemon takes 20 s, and is part of the run with `DRAINS=all` in the environment.
  private static var drains: [Int] {
    if getenv("DRAINS").map({ String(cString: $0) }) == "all" { return [1_500, 20_000] }
    print("drains of 20 s are left out; DRAINS=all has them")
    return [1_500]
  }

  /// Stops the probe, which the unit gives a second to end, and says for how many milliseconds that took.
  private func stop(_ probe: ProbeSession, options: String) async throws -> (lines: [String], milliseconds: Int) {
    let lines = try await underManager(
      probe, options: options,
      unit: "TimeoutStopSec=1\nStandardError=file:\(probe.directory.file("errors"))",
      script: """
        ctl start probe; echo "start $?"
        before=$(date +%s%N)
        ctl stop probe; echo "stop $?"
        echo "took $((($(date +%s%N) - before) / 1000000))"
        ctl show -p Result -p ExecMainStatus -p ExecMainCode probe
        """)
    #expect(lines.contains("start 0"), "\(lines)")
    let took = lines.first { $0.hasPrefix("took ") }.flatMap { Int($0.dropFirst("took ".count)) }
    return (lines, try #require(took, "\(lines)"))
  }

  @Test(arguments: drains) func aDaemonUnderMainDrainsForAsLongAsItsBudgetSays(milliseconds: Int) async throws {
    try await ProbeSession.run("ServiceProbe") { probe in
      let (lines, took) = try await stop(
        probe, options: "--main --budget \(milliseconds + 10_000) --drain \(milliseconds)")
      #expect(lines.contains("Result=success") && lines.contains("ExecMainStatus=0"), "\(lines)")
      #expect(took >= milliseconds)
      #expect(probe.log.lines.contains("release end"))
      #expect(try readFile(probe.directory.file("errors")) == "")
      print("a drain of \(milliseconds) ms took \(took) ms under a manager that gives 1,000 ms")
    }
  }

  @Test(arguments: drains) func aDaemonUnderMainThatDoesNotEndIsCutWhenItsBudgetHasPassed(milliseconds: Int)
    async throws
  {
    try await ProbeSession.run("ServiceProbe") { probe in
      // The gate stays shut.
      let (lines, took) = try await stop(
        probe, options: "--main --budget \(milliseconds) --gate \(probe.gate.path)")
      // By itself, with its own status: not by the manager's SIGKILL.
      #expect(lines.contains("Result=exit-code") && lines.contains("ExecMainStatus=70"), "\(lines)")
      #expect(took >= milliseconds)
      #expect(
        try readFile(probe.directory.file("errors"))
          == "ServiceProbe: the tear-down of applicationWillTerminate overran its budget of \(Duration.milliseconds(milliseconds)): socket\n"
      )
      print("an end without end was cut after \(took) ms, with a budget of \(milliseconds) ms")
    }
  }
}
