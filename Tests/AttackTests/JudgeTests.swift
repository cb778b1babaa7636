import AttackCore
import PseudoTerminal
import Testing

/// The judge finds nothing wrong with what is right, and each thing that is not.
@Suite struct JudgeTests {
  private func round(
    _ steps: [Step] = [], _ ending: Ending = .quit, program: Round.Program = .pregTracker,
    wrapper: Round.Wrapper = .none, conditions: Set<Condition> = []
  ) -> Round {
    Round(
      number: 0, program: program, shell: .bash, wrapper: wrapper, size: .init(rows: 24, columns: 80),
      conditions: conditions, steps: steps, ending: ending)
  }

  private static let sane = TerminalState(modes: ["echo": "on"], emulator: ["cursor": "on"])
  private static let raw = TerminalState(modes: ["echo": "off"], emulator: ["cursor": "on"])
  private static let isRaw = "echo is off, not on"

  /// What is right for a round that ends in order.
  private func orderly(_ change: (inout Observation) -> Void = { _ in }) -> Observation {
    var seen = Observation()
    (seen.modesBefore, seen.modesAfter, seen.leftOvers) = (Self.sane, Self.sane, [])
    (seen.status, seen.duration, seen.journal, seen.savedDate) = (0, .seconds(1), ["terminated"], Round.firstDate)
    change(&seen)
    return seen
  }

  /// What is right for a round in which a signal ends the program.
  private func killed(by signal: Int32, _ change: (inout Observation) -> Void = { _ in }) -> Observation {
    orderly {
      ($0.status, $0.journal, $0.savedDate) = (128 + signal, ["killed"], nil)
      change(&$0)
    }
  }

  private func violations(_ round: Round, _ seen: Observation) -> [String] { Judge.violations(of: round, seen: seen) }

  private static let stopped: [Step] = [
    .setDate("2027-01-02"), .suspend(.key, byBackground: false), .setDate("2027-01-03"),
  ]

  private func afterStop(_ change: (inout Observation) -> Void = { _ in }) -> Observation {
    orderly {
      $0.suspensions = [.init(modes: Self.sane, savedDate: "2027-01-02")]
      $0.savedDate = "2027-01-03"
      change(&$0)
    }
  }

  @Test func `What is right is right`() {
    #expect(violations(round(), orderly()) == [])
    #expect(violations(round(Self.stopped), afterStop()) == [])
    #expect(violations(round([], .fatal(Signal(10, "SIGUSR1"))), killed(by: 10)) == [])
    #expect(violations(round([], .quitKey), killed(by: 3)) == [])
    #expect(violations(round([], .order(Signal(15, "SIGTERM"), to: .group, count: 20)), orderly()) == [])
    let quickstart = orderly { ($0.journal, $0.savedDate) = ([], nil) }
    #expect(violations(round(program: .quickstart), quickstart) == [])
  }

  @Test func `Of two fatal signals either may be the end`() {
    let two = round([], .fatal(Signal(10, "SIGUSR1"), then: .init(Signal(12, "SIGUSR2"), after: 20)))
    #expect(violations(two, killed(by: 10)) == [])
    #expect(violations(two, killed(by: 12)) == [])
    #expect(violations(two, killed(by: 11)) == ["the status is 139, not 138 or 140"])
    #expect(violations(two, killed(by: 10) { $0.modesAfter = Self.raw }) == [Self.isRaw])
    #expect(
      violations(two, killed(by: 10) { $0.leftOvers = ["hidden cursor"] }) == [
        "the screen was not left (hidden cursor)"
      ])
  }

  @Test func `The status is the wrapper's where the wrapper ends first`() {
    let order = Ending.order(.hangUp, to: .group, count: 1, continues: true)
    #expect(violations(round([], order, wrapper: .script), orderly { $0.status = 129 }) == [])
    #expect(violations(round([], order, wrapper: .script), orderly()) == ["the status is 0, not 129"])
    #expect(violations(round([], order, wrapper: .timeout), orderly()) == [])
    #expect(violations(round([], order, wrapper: .strace), orderly()) == [])
    #expect(violations(round([], order), orderly()) == [])
    // A shell waits for its child after a SIGINT, and ends by the signal then.
    let interrupt = Ending.order(.interrupt, to: .group, count: 1)
    #expect(violations(round([], interrupt, wrapper: .script), orderly { $0.status = 130 }) == [])
    let alone = Ending.order(.hangUp, to: .program, count: 1)
    #expect(violations(round([], alone, wrapper: .script), orderly()) == [])
  }

  @Test func `A program without its wrapper has left the terminal in order, too, and ends in order`() {
    let orphaned = round(Self.stopped, .orphaned(.hangUp), wrapper: .python)
    func without(_ change: (inout Observation) -> Void = { _ in }) -> Observation {
      afterStop {
        ($0.status, $0.modesWithoutWrapper) = (129, Self.sane)
        change(&$0)
      }
    }
    #expect(violations(orphaned, without()) == [])
    #expect(
      violations(orphaned, without { $0.modesWithoutWrapper = Self.raw })
        == ["after the wrapper's end: \(Self.isRaw)"])
    #expect(
      violations(orphaned, without { $0.leftOvers = ["hidden cursor"] }) == ["the screen was not left (hidden cursor)"])
    #expect(violations(orphaned, without { $0.status = 0 }) == ["the status is 0, not 129"])
    #expect(
      violations(orphaned, without { $0.journal = ["killed"] })
        == [#"the journal says ["killed"], not terminated"#])
    #expect(
      violations(orphaned, without { $0.savedDate = "2027-01-02" })
        == ["the saved date is 2027-01-02, not 2027-01-03"])
  }

  @Test func `Fish keeps the modes that it finds when the wrapper has ended`() {
    let raw = orderly { ($0.status, $0.modesWithoutWrapper, $0.modesAfter) = (143, Self.raw, Self.raw) }
    let term = Signal(15, "SIGTERM")
    for ending in [Ending.orphaned(term), .order(term, to: .group, count: 1)] {
      var inFish = round([], ending, wrapper: .script)
      #expect(violations(inFish, raw).contains(Self.isRaw))
      inFish.shell = .fish
      #expect(violations(inFish, raw) == [])
      inFish.wrapper = .timeout
      #expect(violations(inFish, raw).contains(Self.isRaw))
    }
  }

  @Test func `A stopped job that is hung up ends in order`() {
    let stopped = round([.setDate("2027-01-02")], .hangUpStopped)
    func after(_ change: (inout Observation) -> Void = { _ in }) -> Observation {
      orderly {
        $0.suspensions = [.init(modes: Self.sane, savedDate: "2027-01-02")]
        ($0.status, $0.savedDate) = (nil, "2027-01-02")
        change(&$0)
      }
    }
    #expect(violations(stopped, after()) == [])
    #expect(violations(stopped, after { $0.modesAfter = Self.raw }) == [Self.isRaw])
    #expect(violations(stopped, after { $0.suspensions[0].savedDate = nil }).count == 1)
    #expect(violations(stopped, after { $0.journal = ["killed"] }).count == 1)
  }

  @Test func `Orders that were sent too late say nothing of the program`() {
    #expect(violations(round(), orderly { ($0.isOutOfTime, $0.status, $0.missed) = (true, 9, "no prompt") }).count == 1)
  }

  @Test func `A wait that failed is all there is to say`() {
    #expect(violations(round(), orderly { ($0.missed, $0.status) = ("no prompt", 9) }) == ["no prompt"])
  }

  @Test func `Modes and screen after the end`() {
    #expect(violations(round(), orderly { $0.modesAfter = Self.raw }) == [Self.isRaw])
    #expect(violations(round(), orderly { $0.modesAfter = nil }) == ["the modes are unknown"])
    #expect(
      violations(round(), orderly { $0.leftOvers = ["hidden cursor"] }) == ["the screen was not left (hidden cursor)"])
    let fatal = round([], .fatal(Signal(10, "SIGUSR1")))
    #expect(
      violations(fatal, killed(by: 10) { $0.leftOvers = ["hidden cursor"] }) == [
        "the screen was not left (hidden cursor)"
      ])
  }

  @Test func `SIGKILL and a closed window leave no terminal to judge`() {
    let broken = killed(by: 9) { ($0.modesAfter, $0.leftOvers) = (Self.raw, ["hidden cursor"]) }
    #expect(violations(round([], .kill), broken) == [])
    let gone = orderly { ($0.modesAfter, $0.leftOvers, $0.status) = (nil, nil, nil) }
    #expect(violations(round([], .hangUp), gone) == [])
  }

  @Test func `Modes, screen and date after a stop`() {
    let stopped = round(Self.stopped)
    #expect(
      violations(stopped, afterStop { $0.suspensions[0].leftOvers = ["hidden cursor"] })
        == ["stop 1: the screen was not left (hidden cursor) before the prompt"])
    #expect(violations(stopped, afterStop { $0.suspensions[0].modes = Self.raw }) == ["stop 1: \(Self.isRaw)"])
    #expect(
      violations(stopped, afterStop { $0.suspensions[0].savedDate = nil })
        == ["stop 1: the saved date is none, not 2027-01-02"])
  }

  @Test func `Status, time and journal`() {
    #expect(violations(round(), orderly { $0.status = 143 }) == ["the status is 143, not 0"])
    #expect(violations(round(), orderly { $0.duration = .seconds(17) }) == ["the end took 17.0 seconds"])
    #expect(
      violations(round(), orderly { $0.journal = ["killed"] })
        == [#"the journal says ["killed"], not terminated"#])
    #expect(violations(round(), orderly { $0.journal = [] }) == ["the journal says [], not terminated"])
    #expect(
      violations(round([], .kill), killed(by: 9) { $0.journal = ["terminated"] })
        == [#"the journal says ["terminated"], not killed"#])
    let crash = round([], .fatal(Signal(11, "SIGSEGV")))
    #expect(violations(crash, killed(by: 11) { $0.journal = ["crashed"] }) == [])
    #expect(violations(crash, killed(by: 11)) == [#"the journal says ["killed"], not crashed"#])
    let both = round([], .fatal(Signal(10, "SIGUSR1"), then: .init(Signal(6, "SIGABRT"), after: 20)))
    for ending in ["killed", "crashed"] { #expect(violations(both, killed(by: 6) { $0.journal = [ending] }) == []) }
  }

  @Test func `Fish shows no status of a job that was continued`() {
    var stopped = round(Self.stopped, .fatal(Signal(10, "SIGUSR1")))
    let seen = killed(by: 0) {
      $0.suspensions = [.init(modes: Self.sane, savedDate: "2027-01-02")]
      ($0.status, $0.savedDate) = (0, "2027-01-02")
    }
    #expect(violations(stopped, seen) == ["the status is 0, not 138"])
    stopped.shell = .fish
    #expect(violations(stopped, seen) == [])
  }

  @Test func `A date that was shown and then saved must be in the file`() {
    #expect(
      violations(round(Self.stopped), afterStop { $0.savedDate = "2027-01-02" })
        == ["the saved date is 2027-01-02, not 2027-01-03"])
    // Killed, it keeps what the last stop saved, or what was set since; never an older date, or none.
    let killedLater = killed(by: 9) {
      $0.suspensions = [.init(modes: Self.sane, savedDate: "2027-01-02")]
      $0.savedDate = "2027-01-02"
    }
    #expect(violations(round(Self.stopped, .kill), killedLater) == [])
    for (date, count) in [("2027-01-03", 0), (Round.firstDate, 1), (nil, 1)] as [(String?, Int)] {
      var seen = killedLater
      seen.savedDate = date
      #expect(violations(round(Self.stopped, .kill), seen).count == count)
    }
    #expect(violations(round([], .kill), killed(by: 9) { $0.savedDate = "2027-01-02" }).count == 1)
  }

  @Test func `A stall that is too long costs the screen and the status, and nothing else`() {
    let late = round([], .stalled(.key, milliseconds: 30_000))
    #expect(violations(late, orderly { ($0.status, $0.leftOvers) = (74, ["hidden cursor"]) }) == [])
    #expect(violations(late, orderly { $0.leftOvers = ["hidden cursor"] }) == ["the status is 0, not 74"])
    #expect(
      violations(late, orderly { ($0.status, $0.modesAfter) = (74, Self.raw) }) == [Self.isRaw])
    let short = round([], .stalled(.signal, milliseconds: 3_000))
    #expect(violations(short, orderly()) == [])
    #expect(
      violations(short, orderly { $0.leftOvers = ["hidden cursor"] }) == ["the screen was not left (hidden cursor)"])
  }

  @Test func `Each mode that differs is named, of the line and of the emulator`() {
    let changed = TerminalState(
      modes: ["echo": "on", "the character min": "1"], emulator: ["cursor": "off", "focus reports (?1004)": "on"])
    #expect(
      violations(round(), orderly { $0.modesAfter = changed })
        == ["the character min is 1, not off", "cursor is off, not on", "focus reports (?1004) is on, not off"])
    // A terminal that takes nothing keeps what the emulator has, and not the line's modes.
    let late = round([], .stalled(.key, milliseconds: 30_000))
    #expect(violations(late, orderly { ($0.status, $0.modesAfter) = (74, changed) }).count == 1)
  }

  @Test func `A child finds the modes from before the program`() {
    let lent = round([.lend(ownGroup: false, ends: true)], program: .probe)
    let seen = orderly { ($0.journal, $0.savedDate, $0.loans) = ([], nil, [Self.sane, Self.raw]) }
    #expect(violations(lent, seen) == ["loan 2: \(Self.isRaw)"])
  }

  @Test func `A volley ends in order, unless SIGQUIT is in it`() {
    let order = Ending.Shot(Signal(15, "SIGTERM"), count: 10, after: 20)
    let plain = round([], .volley([order, .init(.hangUp), order]))
    #expect(violations(plain, orderly()) == [])
    #expect(violations(plain, orderly { $0.status = 143 }) == ["the status is 143, not 0"])
    #expect(violations(plain, orderly { $0.journal = ["killed"] }).count == 1)
    // A job that ends in the background has no status.
    let stopped = round([], .volley([.init(.stop), order]))
    #expect(violations(stopped, orderly { $0.status = 148 }) == [])
    #expect(violations(stopped, orderly { $0.modesAfter = Self.raw }) == [Self.isRaw])
    let quit = round([], .volley([order, .init(.quit)]))
    #expect(violations(quit, orderly()) == [])
    #expect(violations(quit, killed(by: 3)) == [])
    #expect(violations(quit, killed(by: 15)) == ["the status is 143, not 0 or 131"])
  }

  @Test func `A full disk keeps a whole date, and may lack the end`() {
    let full = round(Self.stopped, conditions: [.fullDisk(.noRoom)])
    for date in [nil, Round.firstDate, "2027-01-02", "2027-01-03"] {
      let seen = afterStop {
        ($0.suspensions[0].savedDate, $0.savedDate, $0.journal) = (date, date, ["killed"])
      }
      #expect(violations(full, seen) == [])
    }
    #expect(violations(full, afterStop { $0.savedDate = "damaged: \"du\"" }).count == 1)
  }

  @Test func `A manager that waits for another process hears nothing`() {
    #expect(violations(round(), orderly { $0.notices = ["READY=1"] }).count == 1)
  }
}
