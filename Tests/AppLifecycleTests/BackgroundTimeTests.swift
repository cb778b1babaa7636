import PubSub
import Scheduling
import TestTraits
import Testing

@testable import AppLifecycle

/// Something that happens to the time in the background.
private enum Event: Hashable, CaseIterable {
  case commitInactive, commitBackground, commitSuspended, commitNotRunning, willEnterForeground
  case begin, endOldest, endNewest, endOldestTwice
  case beginMode, endMode
  case secondPasses
}

/// The rules of section 5, written down a second time: nothing is carried along, everything follows from what has happened
/// so far.
///
/// The limits are small, so that short sequences reach them: suspended after 1 s, expired after 2 s, purged after 3 s.
private struct Rules {
  static let limits = BackgroundTimeStateMachine.Limits(
    stay: .seconds(1), allowance: .seconds(3), expirationLead: .seconds(1))

  enum Fact: Equatable {
    case commit(ApplicationState)
    case returns
    case began(task: Int)
    case refused(task: Int)
    case ended(task: Int)
    case expired(task: Int)
    case beganMode
    case endedMode
    case askedTheClock
  }

  var history: [(time: Int, fact: Fact)] = []

  var state: ApplicationState {
    for entry in history.reversed() { if case .commit(let state) = entry.fact { return state } }
    return .notRunning
  }

  /// What happened since the process before this one ended.
  private var ofThisProcess: ArraySlice<(time: Int, fact: Fact)> {
    let end = history.lastIndex { $0.fact == .commit(.notRunning) }
    return history[(end.map { $0 + 1 } ?? 0)...]
  }

  private static func modes(in facts: ArraySlice<(time: Int, fact: Fact)>) -> Int {
    facts.count { $0.fact == .beganMode } - facts.count { $0.fact == .endedMode }
  }

  var standingModes: Int { Self.modes(in: ofThisProcess) }

  /// Whether the application was told that it will enter the foreground, and has not done so.
  private var isReturning: Bool {
    let commit = history.lastIndex { if case .commit = $0.fact { true } else { false } }
    return history[(commit ?? 0)...].contains { $0.fact == .returns }
  }

  /// Where in the history the stay began whose clocks run now.
  private var beginningOfStay: Int? {
    guard state == .background, standingModes == 0, !isReturning else { return nil }
    let process = ofThisProcess
    let commit = process.lastIndex { if case .commit = $0.fact { true } else { false } }
    let lastModeEnd = process.lastIndex { $0.fact == .endedMode }
    return [commit, lastModeEnd].compactMap { $0 }.max()
  }

  func lengthOfStay(at now: Int) -> Int? { beginningOfStay.map { now - history[$0].time } }

  var open: [Int] {
    let ended = ofThisProcess.compactMap { if case .ended(let task) = $0.fact { task } else { nil } }
    return ofThisProcess.compactMap {
      if case .began(let task) = $0.fact, !ended.contains(task) { task } else { nil }
    }
  }

  private func hasExpired(_ task: Int) -> Bool { history.contains { $0.fact == .expired(task: task) } }

  /// Whether the clock has been seen past the expiration in this stay.
  var refuses: Bool {
    if state == .notRunning || state == .suspended { return true }
    guard let beginning = beginningOfStay else { return false }
    return history[beginning...].contains { $0.fact == .askedTheClock && $0.time - history[beginning].time >= 2 }
  }

  /// What the system does at an instant of the stay.
  func action(at now: Int) -> BackgroundTimeStateMachine.Action? {
    guard let length = lengthOfStay(at: now) else { return nil }
    if length >= 2, let task = open.first(where: { !hasExpired($0) }) { return .expire(task) }
    if length >= 3, !open.isEmpty { return .purge(because: open.map { "task \($0)" }) }
    if length >= 1, open.isEmpty { return .suspend }
    return nil
  }

  func remaining(at now: Int) -> Duration? {
    if state == .active || state == .inactive || isReturning || standingModes > 0 { return nil }
    return lengthOfStay(at: now).map { .seconds(max(0, 3 - $0)) } ?? .zero
  }
}

/// The machine beside the rules.
private struct Pair {
  /// What expiration handlers do with their task.
  enum Handlers: CaseIterable { case ignoreIt, endIt, endAll }

  let handlers: Handlers
  var machine = BackgroundTimeStateMachine(limits: Rules.limits)
  var rules = Rules()
  var now = 0
  var begun = 0
  var complaints: [String] = []

  mutating func note(_ fact: Rules.Fact) { rules.history.append((now, fact)) }

  mutating func check(_ isRight: Bool, _ complaint: @autoclosure () -> String) {
    if !isRight { complaints.append(complaint()) }
  }

  /// False if the event cannot happen now.
  mutating func take(_ event: Event) -> Bool {
    switch event {
    case .commitInactive: commit(.inactive)
    case .commitBackground: commit(.background)
    case .commitSuspended: commit(.suspended)
    case .commitNotRunning: commit(.notRunning)
    case .willEnterForeground:
      guard rules.state == .background else { return false }
      machine.willEnterForeground()
      note(.returns)
    case .begin:
      let isRefused = rules.refuses
      let (id, wasRefused) = machine.beginTask(named: "task \(begun)", at: .seconds(now))
      check(id == begun, "tasks are numbered in order of begin")
      check(wasRefused == isRefused, "refused: \(wasRefused) instead of \(isRefused)")
      note(isRefused ? .refused(task: begun) : .began(task: begun))
      begun += 1
    case .endOldest:
      guard let task = rules.open.first else { return false }
      end(task)
    case .endNewest:
      guard rules.open.count > 1, let task = rules.open.last else { return false }
      end(task)
    case .endOldestTwice:
      guard begun > 0 else { return false }
      endAgain(0)
    case .beginMode:
      guard rules.standingModes < 2 else { return false }
      machine.beginMode()
      note(.beganMode)
    case .endMode:
      guard rules.standingModes > 0 else { return false }
      note(.endedMode)
      machine.endMode(at: .seconds(now))
    case .secondPasses: now += 1
    }
    performWhatIsDue()
    check(machine.remaining(at: .seconds(now)) == rules.remaining(at: now), "the time that remains")
    checkDeadline()
    return true
  }

  private mutating func commit(_ state: ApplicationState) {
    note(.commit(state))
    machine.didCommit(state, at: .seconds(now))
  }

  private mutating func end(_ task: Int) {
    check(machine.endTask(task) == .ended, "an open task ends")
    note(.ended(task: task))
  }

  /// Ends a task whatever has become of it.
  private mutating func endAgain(_ task: Int) {
    let process = rules.history.lastIndex { $0.fact == .commit(.notRunning) } ?? -1
    let begin = rules.history.firstIndex { $0.fact == .began(task: task) || $0.fact == .refused(task: task) }
    let wasEnded = rules.history.contains { $0.fact == .ended(task: task) }
    let expected: BackgroundTimeStateMachine.End =
      (begin ?? -1) < process ? .outdated : wasEnded ? .endedTwice : .ended
    let end = machine.endTask(task)
    check(end == expected, "ended again: \(end) instead of \(expected)")
    note(.ended(task: task))
  }

  /// As the driver does: until nothing is due.
  private mutating func performWhatIsDue() {
    var count = 0
    while true {
      let expected = rules.action(at: now)
      let action = machine.nextAction(at: .seconds(now))
      note(.askedTheClock)
      check(action == expected, "\(String(describing: action)) instead of \(String(describing: expected))")
      count += 1
      guard let action, complaints.isEmpty, count < 100 else { break }
      switch action {
      case .expire(let task):
        note(.expired(task: task))
        switch handlers {
        case .ignoreIt: break
        case .endIt: end(task)
        case .endAll: for task in rules.open { end(task) }
        }
      case .purge: commit(.notRunning)
      case .suspend: commit(.suspended)
      }
    }
    check(count < 100, "there is no end of what is due")
  }

  /// The machine asks to be asked at the first instant at which something is due, or a little earlier, but never late.
  private mutating func checkDeadline() {
    let due = (now...now + 5).first { rules.action(at: $0) != nil }
    let deadline = machine.nextDeadline
    check(deadline.map { $0 > .seconds(now) } ?? true, "a deadline that has passed, and nothing was due")
    if let due {
      check(deadline.map { $0 <= .seconds(due) } ?? false, "something is due at \(due), the deadline is late")
    } else {
      check(deadline == nil, "a deadline, and nothing will be due")
    }
  }
}

@Suite(.longRunning) struct BackgroundTimeTests {
  @Test(arguments: Pair.Handlers.allCases)
  fileprivate func `every short sequence follows the rules of section 5`(handlers: Pair.Handlers) {
    let length = 5
    var (sequences, impossible) = (0, 0)
    var kinds: Set<String> = []
    var path: [Event] = []
    func extend(_ pair: Pair) -> Bool {
      guard path.count < length else { return true }
      for event in Event.allCases {
        var next = pair
        guard next.take(event) else {
          impossible += 1
          continue
        }
        path.append(event)
        defer { path.removeLast() }
        sequences += 1
        for entry in next.rules.history[pair.rules.history.count...] { kinds.insert(entry.fact.kind) }
        guard next.complaints.isEmpty else {
          Issue.record("\(path): \(next.complaints)")
          return false
        }
        guard extend(next) else { return false }
      }
      return true
    }
    // A launched application, in the foreground and just gone to the background.
    for beginning in [[], [Event.commitInactive], [.commitInactive, .begin, .begin, .commitBackground]] {
      var pair = Pair(handlers: handlers)
      for event in beginning {
        let isPossible = pair.take(event)
        #expect(isPossible)
      }
      #expect(extend(pair))
    }
    print("background time: \(sequences) sequences of up to \(length) events, \(impossible) impossible, \(handlers)")
    #expect(kinds.isSuperset(of: ["commit", "began", "refused", "ended", "expired", "beganMode", "endedMode"]))
  }

  @Test(arguments: Pair.Handlers.allCases)
  fileprivate func `long random sequences do`(handlers: Pair.Handlers) {
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = SplitMix64(seed: seed)
    print("background time: random sequences, seed \(seed)")
    for _ in 0..<60 {
      var pair = Pair(handlers: handlers)
      for step in 0..<60 {
        // The application is rarely thrown out, so that stays have time to grow.
        let event = Event.allCases.randomElement(using: &random)!
        if event == .commitNotRunning, Int.random(in: 0..<4, using: &random) > 0 { continue }
        _ = pair.take(event)
        #expect(pair.complaints.isEmpty, "seed \(seed), step \(step)")
        guard pair.complaints.isEmpty else { return }
      }
    }
  }

  // MARK: The platform's limits

  private func background(at seconds: Int = 0) -> BackgroundTimeStateMachine {
    var time = BackgroundTimeStateMachine(
      limits: .init(stay: .seconds(5), allowance: .seconds(30), expirationLead: .seconds(5)))
    time.didCommit(.inactive, at: .zero)
    time.didCommit(.background, at: .seconds(seconds))
    return time
  }

  @Test func `without tasks the stay lasts five seconds`() {
    var time = background(at: 100)
    #expect(time.nextDeadline == .seconds(105))
    #expect(time.nextAction(at: .milliseconds(104_999)) == nil)
    #expect(time.nextAction(at: .seconds(105)) == .suspend)
    #expect(time.remaining(at: .seconds(103)) == .seconds(27))
  }

  @Test func `with a task, deadlines are those of expiration and purge`() {
    var time = background()
    let (id, isRefused) = time.beginTask(named: "save", at: .zero)
    #expect(!isRefused)
    #expect(time.nextDeadline == .seconds(25))
    #expect(time.nextAction(at: .seconds(25)) == .expire(id))
    #expect(time.nextAction(at: .seconds(25)) == nil)
    #expect(time.nextDeadline == .seconds(30))
    #expect(time.beginTask(named: "late", at: .zero).isRefused)
    #expect(time.nextAction(at: .milliseconds(29_999)) == nil)
    #expect(time.nextAction(at: .seconds(30)) == .purge(because: ["save"]))
  }

  @Test func `a clock that strikes late does first what was due first`() {
    var time = background()
    let ids = ["a", "b"].map { time.beginTask(named: $0, at: .zero).id }
    #expect(time.nextAction(at: .seconds(100)) == .expire(ids[0]))
    #expect(time.endTask(ids[0]) == .ended)
    #expect(time.nextAction(at: .seconds(100)) == .expire(ids[1]))
    #expect(time.nextAction(at: .seconds(100)) == .purge(because: ["b"]))
  }

  @Test func `a lead longer than the allowance expires at once`() {
    var time = BackgroundTimeStateMachine(
      limits: .init(stay: .seconds(5), allowance: .seconds(3), expirationLead: .seconds(5)))
    time.didCommit(.inactive, at: .zero)
    let id = time.beginTask(named: "save", at: .zero).id
    time.didCommit(.background, at: .seconds(1))
    #expect(time.nextDeadline == .seconds(1))
    #expect(time.nextAction(at: .seconds(1)) == .expire(id))
    #expect(time.nextDeadline == .seconds(4))
  }
}

extension Rules.Fact {
  fileprivate var kind: String { String(describing: self).prefix { $0 != "(" }.description }
}
