import Glibc
import PseudoTerminal
import TestTraits
import Testing

/// The program while nothing happens but time.
@Suite(.serialized, .timeLimit(.hang)) struct PregTrackerIdleTests {
  /// How often each thread of a process has gone to sleep by itself, save the host's own, which shows itself once a second.
  private func sleeps(of pid: Int32) throws -> [String: Int] {
    var sleeps: [String: Int] = [:]
    for task in try fileNames(in: "/proc/\(pid)/task") {
      // A thread may end meanwhile.
      guard let name = try? readFile("/proc/\(pid)/task/\(task)/comm"), name != "lifecycle host\n",
        let status = try? readFile("/proc/\(pid)/task/\(task)/status"),
        let line = status.split(separator: "\n").first(where: { $0.hasPrefix("voluntary_ctxt_switches:") })
      else { continue }
      sleeps[task] = line.split(separator: "\t").last.flatMap { Int($0) }
    }
    return sleeps
  }

  /// The seconds that the screen shows; -1 where it shows none.
  private static func clock(of screen: TerminalScreen) -> Int {
    for line in screen.lines {
      if let time = line.firstMatch(of: /active (\d+):(\d\d)/)?.output, let minutes = Int(time.1),
        let seconds = Int(time.2)
      {
        return 60 * minutes + seconds
      }
    }
    return -1
  }

  /// Counts during five seconds, of which as many pass as the machine wants to.
  private func count(_ name: String, of pid: Int32) async throws -> (main: Int, others: Int, seconds: Double) {
    let before = try sleeps(of: pid)
    let began = ContinuousClock.now
    _ = try await runProgram(["sleep", "5"])
    let counts = try sleeps(of: pid).map { (task: $0, count: $1 - before[$0, default: 0]) }
    let seconds = (ContinuousClock.now - began) / .seconds(1)
    // The first thread runs the main actor; the others are libdispatch's.
    let main = counts.reduce(0) { $0 + ($1.task == "\(pid)" ? $1.count : 0) }
    let others = counts.reduce(-main) { $0 + $1.count }
    print("PregTracker \(name): the main thread slept \(main) times, libdispatch's \(others) times in \(seconds) s")
    return (main, others, seconds)
  }

  @Test(.longRunning) func `While active it wakes up once a second for its clock, and never while it is not active`()
    async throws
  {
    try await withTemporaryDirectory { directory in
      try await PseudoTerminal.run([builtProduct("PregTracker"), "--state", directory.file("state")]) { terminal in
        // The first seconds, with the connection to the tips, are over.
        try await terminal.waitForScreen("two seconds") { Self.clock(of: $0) >= 2 }
        let pid = terminal.child.pid
        let active = try await count("active", of: pid)
        #expect(Double(active.main) <= active.seconds + 3)
        #expect(Double(active.others) <= 3 * active.seconds + 5)
        // The clock went on meanwhile.
        let shown = Set(terminal.text.matches(of: /active \d+:\d\d/).map { $0.output })
        #expect(shown.count >= 7, "\(shown)")

        terminal.send("\u{1B}[O")  // the terminal has lost the keyboard
        let left = Self.clock(of: try await terminal.waitForScreen(containing: "willResignActive"))
        let inactive = try await count("not active", of: pid)
        // One more for what has just ended. libdispatch looks after its threads once a second as soon as it has any.
        #expect(inactive.main <= 2)
        #expect(Double(inactive.others) <= 1.5 * inactive.seconds + 3)

        // Time stood still, and goes on.
        #expect(Self.clock(of: terminal.screen) <= left + 1)
        terminal.send("\u{1B}[I")
        try await terminal.waitForScreen("the next seconds") { Self.clock(of: $0) >= left + 2 }
        terminal.send("q")
        #expect(try await terminal.child.nextEvent() == .exited(0))
      }
    }
  }
}
