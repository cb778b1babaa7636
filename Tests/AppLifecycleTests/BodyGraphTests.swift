import Testing

@testable import AppLifecycle

/// A body in the graph and the world around it, in which each operation ends when the test says so.
private struct BodyWorld {
  enum Event: Hashable, CaseIterable {
    /// The phase opens; it closes in three steps, as ``PhaseGate`` takes them.
    case open, close, endHandlers, endBodies
    case begin, end, cancelCaller, loseProcess
  }

  private enum Operation { case none, beginning, runs, ending }

  private var graph = ResourceGraph()
  private var position = PhaseGate.Position.closed
  private var operation = Operation.none
  private var callerIsCancelled = false
  private(set) var isOver = false
  private(set) var starts = 0
  /// Whether the body that runs has been there when its phase began to close.
  private var isOfClosedPhase = false
  private(set) var faults: [String] = []

  init() { perform(graph.add(while: .foreground, after: [], isBody: true).actions) }

  func allows(_ event: Event) -> Bool {
    switch event {
    case .open: position != .open
    case .close: position == .open
    case .endHandlers: position == .handlers
    case .endBodies: position == .bodies && !graph.isEndingBodies(of: .foreground)
    case .begin: operation == .beginning
    case .end: operation == .ending
    case .cancelCaller: !callerIsCancelled
    case .loseProcess: true
    }
  }

  mutating func take(_ event: Event) {
    switch event {
    case .open: move(to: .open)
    case .close:
      isOfClosedPhase = operation == .runs
      move(to: .handlers)
    case .endHandlers: move(to: .bodies)
    case .endBodies: move(to: .closed)
    case .begin:
      operation = .runs
      perform(graph.didAcquire(0))
    case .end:
      (operation, isOfClosedPhase) = (.none, false)
      perform(graph.didRelease(0))
    case .cancelCaller:
      callerIsCancelled = true
      if !isOver { perform(graph.remove(0)) }
    case .loseProcess:
      (operation, position, isOfClosedPhase) = (.none, .closed, false)
      graph.loseEverything()
      perform(graph.forgetRemoved())
    }
    expect(isOver == (callerIsCancelled && operation == .none), "a cancelled call is over when its body is")
    expect(position != .open || operation != .none || isOver, "an open phase has its body")
    expect(operation != .runs || !isOfClosedPhase || position == .handlers, "no body outlives its phase")
    expect(operation != .runs || position == .open || position == .handlers, "then it is asked to end")
    let isAwaited = graph.isEndingBodies(of: .foreground)
    expect(isAwaited || position != .bodies || operation != .ending, "the phase waits for it")
  }

  private mutating func move(to position: PhaseGate.Position) {
    self.position = position
    let phase: PhaseSet = .foreground
    perform(
      graph.setOpenPhases(
        position == .open ? phase : [], lingering: position == .handlers || position == .bodies ? phase : [],
        ending: position == .bodies ? phase : []))
  }

  private mutating func perform(_ actions: [ResourceGraph.Action]) {
    for action in actions {
      expect(!isOver, "nothing follows the end of the call")
      switch action {
      case .acquire:
        expect(operation == .none, "bodies do not overlap")
        expect(position == .open && !callerIsCancelled, "a body begins only in its phase, and for a caller")
        operation = .beginning
        starts += 1
      case .cancelAcquire: expect(operation == .beginning, "only a body that has not begun is called off")
      case .release:
        expect(operation == .runs, "a body that runs is asked to end once")
        operation = .ending
      case .forget:
        expect(operation == .none, "the body has ended before the call does")
        isOver = true
      case .retry, .cancelRetry: expect(false, "the graph does not retry a body")
      }
    }
  }

  private mutating func expect(_ isKept: Bool, _ rule: String) {
    if !isKept { faults.append(rule) }
  }
}

@Suite struct `A body in the graph` {
  @Test func `keeps its rules in every sequence of twelve events`() {
    var worlds: [([BodyWorld.Event], BodyWorld)] = [([], BodyWorld())]
    var sequences = 0
    for _ in 0..<12 {
      var next: [([BodyWorld.Event], BodyWorld)] = []
      for (path, world) in worlds {
        for event in BodyWorld.Event.allCases where world.allows(event) {
          var world = world
          world.take(event)
          sequences += 1
          #expect(world.faults.isEmpty, "\(path + [event])")
          // What follows a fault tells nothing new, and nothing follows the end of the call.
          if world.faults.isEmpty, !world.isOver { next.append((path + [event], world)) }
        }
      }
      worlds = next
    }
    #expect(sequences > 50_000)
    #expect(worlds.contains { $0.1.starts == 4 })
  }

  @Test func `ends and begins again if its phase opens again before it was asked to end`() {
    var graph = ResourceGraph()
    _ = graph.add(while: .foreground, after: [], isBody: true)
    #expect(graph.setOpenPhases(.foreground) == [.acquire(0)])
    #expect(graph.didAcquire(0) == [])
    #expect(graph.setOpenPhases([], lingering: .foreground) == [])
    #expect(graph.setOpenPhases(.foreground) == [.release(0)])
    #expect(graph.didRelease(0) == [.acquire(0)])
  }
}
