import Testing

@testable import AppLifecycle

/// One call of `run(while:)` and the world around it, in which a body ends when the test says so.
private struct PhaseRunWorld {
  enum Event: Hashable, CaseIterable {
    case open, close, cancelCaller, complete, fail, loseProcess
  }

  private(set) var run = PhaseRun()
  private var isOpen = false
  private var callerIsCancelled = false
  private var bodyRuns = false
  private var bodyIsCancelled = false
  private(set) var isFinished = false
  private(set) var starts = 0
  /// What was broken.
  private(set) var faults: [String] = []

  /// Whether the event can happen: only a body that runs can end.
  func allows(_ event: Event) -> Bool {
    switch event {
    case .complete, .fail: bodyRuns
    case .open, .close, .cancelCaller, .loseProcess: true
    }
  }

  mutating func take(_ event: Event) {
    let wasAsked = bodyIsCancelled
    let startsBefore = starts
    switch event {
    case .open:
      isOpen = true
      perform(run.phaseDidOpen())
      expect(isFinished || bodyRuns, "an open phase has its body")
    case .close:
      isOpen = false
      perform(run.phaseDidClose())
    case .cancelCaller:
      callerIsCancelled = true
      perform(run.callerWasCancelled())
    case .complete:
      endBody(.completed)
      expect(isFinished == callerIsCancelled, "a body that ends by itself does not end the call")
      expect(starts == startsBefore || wasAsked, "it is not begun anew in the same phase")
    case .fail:
      endBody(.failed)
      expect(isFinished, "an error ends the call")
    case .loseProcess:
      (isOpen, bodyRuns, bodyIsCancelled) = (false, false, false)
      perform(run.processWasLost())
    }
    expect(isOpen || !bodyRuns || bodyIsCancelled, "a body that runs on without its phase has been cancelled")
    expect(!callerIsCancelled || bodyRuns || isFinished, "a cancelled call without a body is over")
    expect(run.isUnderWay == bodyRuns && run.isEnding == bodyIsCancelled, "it says what it does")
  }

  private mutating func endBody(_ end: PhaseRun.End) {
    (bodyRuns, bodyIsCancelled) = (false, false)
    perform(run.bodyDidEnd(end))
  }

  private mutating func perform(_ actions: [PhaseRun.Action]) {
    for action in actions {
      expect(!isFinished, "nothing follows the end of the call")
      switch action {
      case .start:
        expect(!bodyRuns, "bodies do not overlap")
        expect(isOpen && !callerIsCancelled, "a body begins only in its phase, and for a caller")
        bodyRuns = true
        starts += 1
      case .cancel:
        expect(bodyRuns && !bodyIsCancelled, "a body that runs is cancelled once")
        bodyIsCancelled = true
      case .finish:
        expect(!bodyRuns, "the body has ended before the call does")
        isFinished = true
      }
    }
  }

  private mutating func expect(_ isKept: Bool, _ rule: String) {
    if !isKept { faults.append(rule) }
  }
}

@Suite struct `A call of run(while:)` {
  @Test func `keeps its rules in every sequence of eight events`() {
    var worlds: [([PhaseRunWorld.Event], PhaseRunWorld)] = [([], PhaseRunWorld())]
    var sequences = 0
    for _ in 0..<8 {
      var next: [([PhaseRunWorld.Event], PhaseRunWorld)] = []
      for (path, world) in worlds {
        for event in PhaseRunWorld.Event.allCases where world.allows(event) {
          var world = world
          world.take(event)
          sequences += 1
          #expect(world.faults.isEmpty, "\(path + [event])")
          // What follows a fault tells nothing new.
          if world.faults.isEmpty { next.append((path + [event], world)) }
        }
      }
      worlds = next
    }
    #expect(sequences > 50_000)
    #expect(worlds.contains { $0.1.starts == 4 } && worlds.contains { $0.1.isFinished })
  }

  @Test func `whose caller was cancelled ends with the process, and begins no body in the next one`() {
    var run = PhaseRun()
    #expect(run.phaseDidOpen() == [.start])
    #expect(run.callerWasCancelled() == [.cancel])
    #expect(run.processWasLost() == [.finish])
    #expect(run.phaseDidOpen() == [])
  }
}
