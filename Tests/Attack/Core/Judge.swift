import PseudoTerminal

/// Says what is wrong with what was seen of a round: a pure function of the two.
package struct Judge: Sendable {
  /// Both budgets of PregTracker and a second: the longest time from an order to the end.
  package static let limit: Duration = .seconds(11)
  /// The time that a machine busy with other things may add.
  package static let slack: Duration = .seconds(5)
  /// The status of a program that could not write in time what it had to (EX_IOERR).
  package static let lateOutput: Int32 = 74

  private let round: Round
  private let seen: Observation

  private init(_ round: Round, _ seen: Observation) {
    self.round = round
    self.seen = seen
  }

  /// Every rule that was broken, each as a sentence.
  package static func violations(of round: Round, seen: Observation) -> [String] {
    if seen.isOutOfTime { return ["the machine sent copies of the order too late, each time the round was played"] }
    // What comes after a round was broken off says nothing more.
    if let missed = seen.missed { return [missed] }
    let judge = Judge(round, seen)
    return judge.suspensions + judge.loans + judge.orphan + judge.terminal + judge.end + judge.notices + judge.journal
      + judge.state
  }

  // MARK: The rules

  private var suspensions: [String] {
    seen.suspensions.enumerated().flatMap { index, suspension in
      let place = "stop \(index + 1): "
      // SIGTSTP stops a program that does not catch it where it stands, and a full disk keeps no date.
      var broken = leftOvers(suspension.leftOvers).map { place + $0 + " before the prompt" }
      broken += differences(suspension.modes).map { place + $0 }
      if round.keepsDate, !round.hasFullDisk, suspension.savedDate != round.date(beforeStop: index) {
        broken.append(
          "\(place)the saved date is \(suspension.savedDate ?? "none"), not \(round.date(beforeStop: index))")
      }
      return broken
    }
  }

  /// A child finds the modes in which the program was started.
  private var loans: [String] {
    seen.loans.enumerated().flatMap { index, found in differences(found).map { "loan \(index + 1): \($0)" } }
  }

  private func differences(_ modes: TerminalState?) -> [String] {
    modes.map { $0.differences(from: seen.modesBefore) } ?? ["the modes are unknown"]
  }

  private func leftOvers(_ found: [String]) -> [String] {
    found.isEmpty ? [] : ["the screen was not left (\(found.joined(separator: ", ")))"]
  }

  private var orphan: [String] {
    guard case .orphaned = round.ending, !round.shellKeepsModes else { return [] }
    return differences(seen.modesWithoutWrapper).map { "after the wrapper's end: \($0)" }
  }

  private var terminal: [String] {
    // SIGKILL cannot be caught; a terminal that is gone has no modes. What the terminal did not take in time cannot have arrived.
    guard round.ending != .kill, round.ending != .hangUp else { return [] }
    var after = seen.modesAfter
    if round.isLate { after?.emulator = seen.modesBefore.emulator }
    return (round.shellKeepsModes ? [] : differences(after))
      + (round.isLate ? [] : leftOvers(seen.leftOvers ?? ["unknown"]))
  }

  private var notices: [String] {
    seen.notices.isEmpty ? [] : ["it told a foreign service manager \(seen.notices.joined(separator: ", "))"]
  }

  private var end: [String] {
    var broken: [String] = []
    if seen.duration > Self.limit + Self.slack { broken.append("the end took \(seen.duration)") }
    if let allowed = round.allowedStatuses, let status = seen.status, !allowed.contains(status) {
      broken.append("the status is \(status), not \(allowed.map(String.init).joined(separator: " or "))")
    }
    return broken
  }

  private var journal: [String] {
    guard round.program.hasJournal else { return [] }
    let wanted = round.allowedEndings
    return wanted.contains { seen.journal == [$0] }
      ? [] : ["the journal says \(seen.journal), not \(wanted.joined(separator: " or "))"]
  }

  private var state: [String] {
    guard round.keepsDate, !round.allowedDates.contains(seen.savedDate) else { return [] }
    let wanted = round.allowedDates.map { $0 ?? "none" }
    return ["the saved date is \(seen.savedDate ?? "none"), not \(wanted.joined(separator: " or "))"]
  }
}

extension Round {
  /// The date that PregTracker's command line sets.
  package static let firstDate = "2027-03-01"

  /// Whether the program has a state file.
  var keepsDate: Bool { program == .pregTracker }

  /// How the journal may say that the program ended.
  var allowedEndings: [String] {
    // A journal that could not be written ends where the disk was full.
    if hasFullDisk { return ["terminated", "killed", "crashed"] }
    if endsInOrder { return ["terminated"] }
    if isVolley { return ["terminated", "killed"] }
    guard case .fatal(let signal, let second) = ending else { return ["killed"] }
    // Either of two signals may be the one that ends the program.
    let signals = [signal, second?.signal ?? signal].map(\.name)
    return ["killed", "crashed"].filter { kind in signals.contains { Self.crashes.contains($0) == (kind == "crashed") }
    }
  }

  private static let crashes: Set<String> = ["SIGABRT", "SIGSEGV", "SIGBUS", "SIGFPE"]

  /// Whether the program is asked to end, and not killed.
  package var endsInOrder: Bool {
    switch ending {
    case .quit, .interrupt, .order, .orphaned, .hangUpStopped, .stalled, .hangUp: true
    case .quitKey, .fatal, .kill: false
    case .volley(let shots): !shots.contains { $0.signal == .quit }
    }
  }

  /// Whether the program's files cannot grow.
  var hasFullDisk: Bool { conditions.contains { $0.kind == "full disk" } }

  /// What the state file may say at the end; nil where there may be none.
  var allowedDates: [String?] {
    // It keeps one of the dates that were set, whole, or has never been.
    if hasFullDisk {
      return [nil, Self.firstDate] + steps.compactMap { if case .setDate(let date) = $0 { date } else { nil } }
    }
    return endsInOrder ? [lastDate] : datesSinceLastStop
  }

  /// What a wrapper does at the end of the round; nil where the wrapper gets no order.
  private var wrapperAnswer: Wrapper.Answer? {
    switch ending {
    case .order(let signal, let target, _, _): target == .program ? nil : wrapper.answer(to: signal)
    case .orphaned(let signal): wrapper.answer(to: signal)
    case .hangUpStopped: wrapper.answer(to: .hangUp)
    case .quit, .interrupt, .quitKey, .fatal, .kill, .stalled, .hangUp, .volley: nil
    }
  }

  /// Whether a wrapper ends by the order, and the program later.
  package var wrapperEndsFirst: Bool { wrapperAnswer == .ends }

  /// Whether the shell gives the program's own modes to later programs, whatever the program does.
  ///
  /// Fish keeps the modes that it finds as soon as a job has ended by itself, for the programs that it starts afterwards. A
  /// wrapper that ends first takes its job with it, and the program may hear of that too late, or not at all. A program that
  /// SIGSTOP stops has its modes still.
  var shellKeepsModes: Bool {
    guard shell == .fish else { return false }
    if case .volley(let shots) = ending { return shots.contains { $0.signal == .pause } }
    return wrapperEndsFirst && ending != .hangUpStopped
  }

  /// Whether the terminal takes the leaving sequences only when the time for them is over.
  package var isLate: Bool {
    if case .stalled(_, let milliseconds) = ending { Duration.milliseconds(milliseconds) > Judge.limit } else { false }
  }

  /// Whether the job is stopped and continued before the end.
  var hasStops: Bool {
    steps.contains { step in
      if case .suspend = step { true } else { step == .standstill }
    }
  }

  /// Whether the end itself may stop the job, so that it ends in the background.
  package var endMayStop: Bool {
    if case .volley(let shots) = ending { shots.contains { $0.signal == .stop || $0.signal == .pause } } else { false }
  }

  /// What the shell's status may be; nil where there is no shell any more, or where the shell does not tell.
  var allowedStatuses: [Int32]? {
    // After `fg`, fish shows the status of its `fg` and not the job's.
    if shell == .fish, hasStops { return nil }
    guard let statuses = statusesOfEnding else { return nil }
    // A release that asks for a thread is late where there is none.
    return conditions.contains(.noThreads) && statuses.contains(0) ? statuses + [Self.late] : statuses
  }

  /// The status of a program whose tear-down took longer than its budget (EX_SOFTWARE).
  private static let late: Int32 = 70

  private var statusesOfEnding: [Int32]? {
    switch ending {
    // A job that ends in the background has no status at the prompt.
    case .hangUp, .hangUpStopped: nil
    case .quit, .interrupt: [0]
    case .order(let signal, _, _, _): [wrapperEndsFirst || wrapperAnswer == .endsLater ? 128 + signal.number : 0]
    case .orphaned(let signal): [128 + signal.number]
    case .stalled: [isLate ? Judge.lateOutput : 0]
    case .quitKey: [128 + 3]
    case .fatal(let signal, nil): [128 + signal.number]
    // Each is taken by any of the threads, and the threads run in any order.
    case .fatal(let signal, let second?): [128 + signal.number, 128 + second.signal.number]
    case .kill: [128 + 9]
    case .volley: endMayStop ? nil : endsInOrder ? [0] : [0, 128 + Signal.quit.number]
    }
  }

  /// The date that was shown as set before a stop, the first one being 0.
  func date(beforeStop index: Int) -> String {
    var (date, stops) = (Self.firstDate, 0)
    for step in steps {
      switch step {
      case .setDate(let next): date = next
      case .suspend:
        if stops == index { return date }
        stops += 1
      default: break
      }
    }
    return date
  }

  /// The last date that was shown as set.
  var lastDate: String { date(beforeStop: .max) }

  /// What is found after an end that saves nothing: what the last stop has saved, or what was set since.
  ///
  /// The program also saves when it loses the focus, and some time after a change.
  var datesSinceLastStop: [String?] {
    let stop = steps.lastIndex { if case .suspend = $0 { true } else { false } }
    let since = steps[(stop.map { $0 + 1 } ?? 0)...]
    return [lastSavedDate] + (stop == nil ? [Self.firstDate] : [])
      + since.compactMap { if case .setDate(let date) = $0 { date } else { nil } }
  }

  /// The last date that was shown as set before the last stop, which saves it; nil where there was no stop.
  var lastSavedDate: String? {
    let stops = steps.count { if case .suspend = $0 { true } else { false } }
    return stops == 0 ? nil : date(beforeStop: stops - 1)
  }
}
