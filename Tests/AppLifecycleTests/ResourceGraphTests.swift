@testable import AppLifecycle
import Scheduling
import Testing

/// A model of the world in which the graph's actions are operations that end when the test says so.
private struct World {
  var graph = ResourceGraph()
  var phases: [LifecyclePhase] = []
  var dependencies: [[Int]] = []
  var acquiring: Set<Int> = []
  var cancelled: Set<Int> = []
  var releasing: Set<Int> = []
  var retrying: Set<Int> = []
  var held: Set<Int> = []
  var acquires: [Int: Int] = [:]
  var releases: [Int: Int] = [:]
  var order: [String] = []
  var forgotten: Set<Int> = []
  /// The open phases.
  var openPhases: PhaseSet = []
  /// The resources whose running operation is late.
  var late: Set<Int> = []
  /// The resources for whose operation their dependencies no longer wait.
  var givenUp: Set<Int> = []
  /// Those that are acquired from a dependency that has been released meanwhile.
  var stale: Set<Int> = []

  @discardableResult
  mutating func add(_ phase: LifecyclePhase, after: [Int] = [], maximumRetries: Int? = nil) -> Int {
    let next = graph.nextIndex
    if next == phases.count {
      phases.append(phase)
      dependencies.append(after)
    } else {
      #expect(forgotten.remove(next) != nil, "only a forgotten index is used again")
      (phases[next], dependencies[next]) = (phase, after)
    }
    let (index, actions) = graph.add(while: phase, after: after, maximumRetries: maximumRetries)
    #expect(index == next)
    perform(actions)
    return index
  }

  mutating func invalidate(_ index: Int, failures: Int = 0) { perform(graph.invalidate(index, failures: failures)) }

  mutating func remove(_ index: Int) { perform(graph.remove(index)) }

  /// The indices that are in use.
  var managed: [Int] { phases.indices.filter { !forgotten.contains($0) && !graph.isRemoved($0) } }

  mutating func open(_ phases: PhaseSet) {
    openPhases = phases
    giveUp()
    perform(graph.setOpenPhases(phases))
  }

  /// Whether the phase of a resource and of all that it depends on is open.
  func isWanted(_ index: Int) -> Bool {
    openPhases.contains(phases[index]) && dependencies[index].allSatisfy { isWanted($0) }
  }

  private mutating func giveUp() {
    givenUp.formUnion(late.filter { !isWanted($0) && (acquiring.contains($0) || releasing.contains($0)) })
  }

  /// The budget of a tear-down passes: what still runs is late.
  mutating func passBudget() {
    let running = acquiring.union(releasing).filter { !isWanted($0) }
    #expect(Set(graph.markLate()) == running.subtracting(late))
    late.formUnion(running)
    giveUp()
    perform(graph.giveUpLate())
  }

  /// The deadline of one release or cancelled acquire passes.
  mutating func passDeadline(of index: Int) {
    graph.markLate(index)
    late.insert(index)
    giveUp()
    perform(graph.giveUpLate())
  }

  /// A held resource whose phase has closed waits for a dependent that is not given up, and for nothing else.
  func expectProgress() {
    for index in held where !isWanted(index) {
      let waits = phases.indices.contains { other in
        dependencies[other].contains(index) && !forgotten.contains(other) && !givenUp.contains(other)
          && (held.contains(other) || acquiring.contains(other) || releasing.contains(other))
      }
      #expect(waits, "\(index) waits for nothing")
    }
  }

  mutating func perform(_ actions: [ResourceGraph.Action]) {
    for action in actions {
      switch action {
      case .acquire(let index):
        #expect(!acquiring.contains(index) && !held.contains(index) && !releasing.contains(index))
        #expect(dependencies[index].allSatisfy { held.contains($0) }, "what it depends on is held first")
        acquiring.insert(index)
        order.append("acquire \(index)")
      case .cancelAcquire(let index):
        #expect(acquiring.contains(index))
        cancelled.insert(index)
      case .release(let index):
        #expect(held.contains(index))
        for other in phases.indices where dependencies[other].contains(index) && !forgotten.contains(other) {
          if givenUp.contains(other) {
            if acquiring.contains(other) { stale.insert(other) }
          } else {
            #expect(!held.contains(other) && !acquiring.contains(other) && !releasing.contains(other))
          }
        }
        held.remove(index)
        releasing.insert(index)
        order.append("release \(index)")
      case .retry(let index, _): retrying.insert(index)
      case .cancelRetry(let index): retrying.remove(index)
      case .forget(let index):
        #expect(!held.contains(index) && !acquiring.contains(index) && !releasing.contains(index))
        #expect(!retrying.contains(index))
        forgotten.insert(index)
        graph.recycle(index)
      }
    }
  }

  mutating func endAcquire(_ index: Int, succeeds: Bool = true) {
    acquiring.remove(index)
    cancelled.remove(index)
    late.remove(index)
    let isStale = stale.remove(index) != nil
    // One that is stale holds nothing of its dependencies, up to the end of its release.
    if !isStale || !succeeds { givenUp.remove(index) }
    if succeeds {
      held.insert(index)
      acquires[index, default: 0] += 1
      perform(graph.didAcquire(index))
      if isStale { #expect(releasing.contains(index), "what it was acquired from is gone") }
    } else {
      perform(graph.didFailToAcquire(index))
    }
  }

  mutating func endRelease(_ index: Int) {
    releasing.remove(index)
    late.remove(index)
    givenUp.remove(index)
    releases[index, default: 0] += 1
    perform(graph.didRelease(index))
  }

  mutating func endRetry(_ index: Int) {
    retrying.remove(index)
    perform(graph.retryIsDue(index))
  }

  /// Lets everything that runs end well, until nothing does.
  mutating func settle() {
    while let index = acquiring.min() ?? releasing.max() ?? retrying.min() {
      if acquiring.contains(index) {
        endAcquire(index)
      } else if releasing.contains(index) {
        endRelease(index)
      } else {
        endRetry(index)
      }
    }
  }
}

@Suite struct `The graph of managed resources` {
  @Test func `acquires in order of dependency and releases in exact reverse`() {
    var world = World()
    let database = world.add(.running)
    let connection = world.add(.running, after: [database])
    world.add(.running, after: [database, connection])
    world.open([.running])
    world.settle()
    #expect(world.order == ["acquire 0", "acquire 1", "acquire 2"])
    world.order = []
    world.open([])
    world.settle()
    #expect(world.order == ["release 2", "release 1", "release 0"])
    #expect(world.graph.indicesBeingTornDown.count == 0)
  }

  @Test func `acquires and releases side by side what is independent, beginning in order and in reverse`() {
    var world = World()
    for _ in 0..<3 { world.add(.foreground) }
    world.open([.running, .foreground])
    #expect(world.acquiring == [0, 1, 2])
    #expect(world.order == ["acquire 0", "acquire 1", "acquire 2"])
    world.settle()
    world.order = []
    world.open([.running])
    #expect(world.order == ["release 2", "release 1", "release 0"])
    #expect(world.releasing == [0, 1, 2])
  }

  @Test func `ends what depends on something narrower together with it`() {
    var world = World()
    let focus = world.add(.active)
    world.add(.running, after: [focus])
    world.open([.running])
    #expect(world.acquiring.isEmpty)
    world.open([.running, .foreground, .active])
    world.settle()
    #expect(world.held == [0, 1])
    world.open([.running, .foreground])
    world.settle()
    #expect(world.held.isEmpty)
  }

  @Test func `cancels an acquire whose phase closes, and releases it if it succeeded all the same`() {
    var world = World()
    world.add(.foreground)
    world.open([.foreground])
    world.open([])
    #expect(world.cancelled == [0])
    #expect(world.graph.indicesBeingTornDown.count == 1)
    world.endAcquire(0)
    #expect(world.releasing == [0])
    world.endRelease(0)
    #expect(world.graph.indicesBeingTornDown.count == 0)
  }

  @Test func `does not count a cancelled acquire as a failure`() {
    var world = World()
    world.add(.foreground)
    world.open([.foreground])
    world.open([])
    world.endAcquire(0, succeeds: false)
    #expect(world.retrying.isEmpty && world.graph.indicesBeingTornDown.count == 0)
    world.open([.foreground])
    #expect(world.acquiring == [0])
  }

  @Test func `acquires again, at once, what was cancelled while its phase opened again`() {
    var world = World()
    world.add(.foreground)
    world.open([.foreground])
    world.open([])
    world.open([.foreground])
    world.endAcquire(0, succeeds: false)
    #expect(world.acquiring == [0], "the failure was ours: no back-off")
  }

  @Test func `waits for a release before it acquires again`() {
    var world = World()
    world.add(.foreground)
    world.open([.foreground])
    world.settle()
    world.open([])
    world.open([.foreground])
    #expect(world.releasing == [0] && world.acquiring.isEmpty)
    world.endRelease(0)
    #expect(world.acquiring == [0])
  }

  @Test func `tries a failed acquire again, and forgets it when the phase closes`() {
    var world = World()
    let server = world.add(.foreground)
    world.add(.foreground, after: [server])
    world.open([.foreground])
    world.endAcquire(server, succeeds: false)
    #expect(world.retrying == [0])
    #expect(world.graph.status(of: 0) == .retrying(failures: 1))
    world.endRetry(0)
    world.endAcquire(server, succeeds: false)
    #expect(world.graph.status(of: 0) == .retrying(failures: 2))
    world.open([])
    #expect(world.retrying.isEmpty && world.graph.status(of: 0) == .idle)
  }

  @Test func `loses everything with the process, without a release`() {
    var world = World()
    world.add(.running)
    world.open([.running])
    world.settle()
    world.graph.loseEverything()
    #expect(world.graph.status(of: 0) == .idle && world.graph.openPhases.isEmpty && world.releases.isEmpty)
  }

  @Test func `releases a dependency without a late release whose phase has closed`() {
    var world = World()
    let database = world.add(.running)
    let feed = world.add(.foreground, after: [database])
    world.open([.running, .foreground])
    world.settle()
    world.open([.running])
    world.passBudget()
    #expect(world.held == [database] && world.releasing == [feed], "its own phase is open")
    world.open([])
    #expect(world.releasing == [database, feed] && world.graph.awaited == 1)
    world.endRelease(database)
    #expect(world.graph.awaited == 0 && world.graph.indicesBeingTornDown.count == 1)
    world.open([.running, .foreground])
    world.endAcquire(database)
    #expect(world.acquiring.isEmpty, "the late release still runs")
    world.endRelease(feed)
    #expect(world.acquiring == [feed])
  }

  @Test func `keeps a dependency for a late release whose phase is open`() {
    var world = World()
    let database = world.add(.running)
    let feed = world.add(.foreground, after: [database])
    world.open([.running, .foreground])
    world.settle()
    world.invalidate(database)
    world.passDeadline(of: feed)
    #expect(world.held == [database])
    world.open([.running])
    #expect(world.releasing == [database, feed], "given up when its phase closes")
  }

  @Test func `releases what was acquired from a dependency that is gone, and acquires it anew`() {
    var world = World()
    let base = world.add(.foreground)
    let feed = world.add(.foreground, after: [base])
    let view = world.add(.foreground, after: [feed])
    world.open([.foreground])
    world.endAcquire(base)
    world.open([])
    world.passBudget()
    world.endRelease(base)
    world.open([.foreground])
    world.endAcquire(base)
    world.endAcquire(feed)
    #expect(world.releasing == [feed] && world.acquiring.isEmpty)
    world.settle()
    #expect(world.held == [base, feed, view] && world.acquires[feed] == 2)
  }

  @Test(arguments: 0..<80)
  func `keeps balance and order under random phases, failures and delays`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var world = World()
    let nested: [PhaseSet] = [
      [], [.running], [.running, .foreground], [.running, .foreground, .active],
    ]
    var level = 0
    for _ in 0..<400 {
      switch Int.random(in: 0..<15, using: &random) {
      case 0 where world.managed.count < 12:
        let earlier = world.managed.filter { _ in Int.random(in: 0..<3, using: &random) == 0 }
        let maximum = Bool.random(using: &random) ? Int.random(in: 0..<3, using: &random) : nil
        world.add(LifecyclePhase.allCases.randomElement(using: &random)!, after: earlier, maximumRetries: maximum)
      case 10:
        if let index = world.managed.randomElement(using: &random) {
          world.invalidate(index, failures: Int.random(in: 0..<3, using: &random))
        }
      case 11 where world.managed.count > 6:
        let unneeded = world.managed.filter { world.graph.managedDependents(of: $0).isEmpty }
        if let index = unneeded.randomElement(using: &random) { world.remove(index) }
      case 12:
        if let index = world.managed.randomElement(using: &random) { world.perform(world.graph.retryNow(index)) }
      case 13: world.passBudget()
      case 14:
        let running = world.releasing.union(world.cancelled).subtracting(world.late).sorted()
        if let index = running.randomElement(using: &random) { world.passDeadline(of: index) }
      case 1...3:
        level = min(max(level + (Bool.random(using: &random) ? 1 : -1), 0), 3)
        world.open(nested[level])
      case 4...6:
        let failed = Int.random(in: 0..<4, using: &random) == 0
        if let index = world.acquiring.sorted().randomElement(using: &random) {
          world.endAcquire(index, succeeds: !failed)
        }
      case 7, 8:
        if let index = world.releasing.sorted().randomElement(using: &random) { world.endRelease(index) }
      default: if let index = world.retrying.sorted().randomElement(using: &random) { world.endRetry(index) }
      }
      world.expectProgress()
    }
    world.open([])
    // No late operation keeps the others from being released.
    while !world.held.isEmpty {
      world.passBudget()
      world.expectProgress()
    }
    world.settle()
    #expect(world.graph.indicesBeingTornDown.count == 0 && world.held.isEmpty, "seed \(seed)")
    #expect(world.acquires == world.releases, "every acquire has one release; seed \(seed)")
    world.open(nested[3])
    world.settle()
    #expect(world.held == Set(world.managed), "everything can be acquired again; seed \(seed)")
    #expect(world.managed == world.managed.filter { !world.graph.nodes[$0].isLeaving }, "nothing leaves; seed \(seed)")
  }
}
