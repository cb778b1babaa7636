/// Decides when managed resources are acquired and released, as a pure state machine.
///
/// A resource is acquired when its phase is open and everything that it depends on is held; it is released when its phase
/// has closed and nothing that depends on it is held or on the way. Of each resource one operation runs at a time, and
/// every acquire that succeeded is followed by exactly one release. What one resource does costs as much as it has
/// neighbours; opening or closing a phase, as many as there are resources.
struct ResourceGraph {
  /// What the driver is to do.
  enum Action: Hashable {
    case acquire(Int)
    case cancelAcquire(Int)
    case release(Int)
    case retry(Int, failures: Int)
    case cancelRetry(Int)
  }

  /// What happens to one resource.
  enum Event: Hashable {
    case acquired(Int)
    case failedToAcquire(Int)
    case released(Int)
    case retryIsDue(Int)

    var index: Int {
      switch self {
      case .acquired(let index), .failedToAcquire(let index), .released(let index), .retryIsDue(let index): index
      }
    }
  }

  private struct Node {
    /// Its own phase, or a narrower one of what it depends on: it cannot outlast that.
    let phase: LifecyclePhase
    let dependencies: [Int]
    var dependents: [Int] = []
    var heldDependencies = 0
    /// Dependents that are held or on the way; while there are any, it stays.
    var busyDependents = 0
    var status = ResourceStatus.idle
    /// Where among its dependencies the one stands that it waits for; nil while it waits for none.
    var missing: Int?
    var failures = 0
    var isAcquireCancelled = false
    /// Whether its operation has been named as late: nobody waits for it any longer.
    var isLate = false
  }

  private var nodes: [Node] = []
  /// The phases that hold.
  private(set) var openPhases: PhaseSet = []
  /// The phases that have been left, but of which nothing is to be released yet.
  private(set) var lingeringPhases: PhaseSet = []
  /// How many resources are held or on the way although their phase has closed.
  private(set) var tearingDown = 0
  /// How many of these have an operation under way that nobody has named as late.
  private(set) var awaited = 0
  private var actions: [Action] = []
  private var changes: [Int] = []

  func status(of index: Int) -> ResourceStatus { nodes[index].status }

  /// Whether everything whose phase is open is held.
  ///
  /// - Complexity: linear in the number of resources.
  var holdsAllWanted: Bool { nodes.indices.allSatisfy { !isWanted($0) || nodes[$0].status == .held } }

  /// Whether its phase is open, and those of everything that it depends on.
  func isWanted(_ index: Int) -> Bool { openPhases.contains(nodes[index].phase) }

  /// How often in a row it could not be acquired.
  func failures(of index: Int) -> Int { nodes[index].failures }

  /// The dependency that keeps it from being acquired; nil if none does.
  func missingDependency(of index: Int) -> Int? { nodes[index].missing.map { nodes[index].dependencies[$0] } }

  /// Which resources are held or on the way although their phase has closed, in order of registration.
  var indicesBeingTornDown: [Int] { nodes.indices.filter { isBeingTornDown($0) } }

  /// Those whose status has changed since this was last asked, in order; one that changed twice at once comes once.
  mutating func takeChanges() -> [Int] {
    defer { changes.removeAll(keepingCapacity: true) }
    return changes
  }

  /// Nobody waits any longer for the operations of a tear-down that are under way; which these are, in order of registration.
  mutating func markLate() -> [Int] {
    let late = nodes.indices.filter { isAwaited($0) }
    for index in late { nodes[index].isLate = true }
    awaited -= late.count
    return late
  }

  func isLate(_ index: Int) -> Bool { nodes[index].isLate }

  /// Whether its acquire is not wanted any more.
  func isAcquireCancelled(_ index: Int) -> Bool { nodes[index].isAcquireCancelled }

  /// Adds a resource behind those that it depends on.
  mutating func add(while phase: LifecyclePhase, after dependencies: [Int]) -> (index: Int, actions: [Action]) {
    let index = nodes.count
    var node = Node(
      phase: dependencies.reduce(phase) { $0.narrower(nodes[$1].phase) }, dependencies: dependencies)
    for dependency in dependencies {
      nodes[dependency].dependents.append(index)
      if nodes[dependency].status == .held { node.heldDependencies += 1 }
    }
    nodes.append(node)
    return (index, collectActions { $0.consider(index) })
  }

  /// Opens and closes phases; what closes is released in reverse, what opens is acquired in order of registration.
  ///
  /// Of phases that linger nothing is released yet, and nothing is acquired any more.
  mutating func setOpenPhases(_ phases: PhaseSet, lingering: PhaseSet = []) -> [Action] {
    guard phases != openPhases || lingering != lingeringPhases else { return [] }
    (openPhases, lingeringPhases) = (phases, lingering)
    (tearingDown, awaited) = (0, 0)
    for index in nodes.indices where isBeingTornDown(index) {
      tearingDown += 1
      if isAwaited(index) { awaited += 1 }
    }
    return collectActions { graph in
      for index in graph.nodes.indices.reversed() where !graph.isWanted(index) { graph.consider(index) }
      for index in graph.nodes.indices where graph.isWanted(index) { graph.consider(index) }
    }
  }

  /// What has happened to a resource: what is to be done now.
  mutating func handle(_ event: Event) -> [Action] {
    switch event {
    case .acquired(let index): didAcquire(index)
    case .failedToAcquire(let index): didFailToAcquire(index)
    case .released(let index): didRelease(index)
    case .retryIsDue(let index): retryIsDue(index)
    }
  }

  mutating func didAcquire(_ index: Int) -> [Action] {
    nodes[index].failures = 0
    return settle(index, .held)
  }

  /// Acquiring failed: it is tried again later, or it had been cancelled.
  mutating func didFailToAcquire(_ index: Int) -> [Action] {
    guard isWanted(index), !nodes[index].isAcquireCancelled else {
      nodes[index].failures = 0
      return settle(index, .idle)
    }
    nodes[index].failures += 1
    let failures = nodes[index].failures
    return [.retry(index, failures: failures)] + settle(index, .retrying(failures: failures))
  }

  mutating func retryIsDue(_ index: Int) -> [Action] {
    guard case .retrying = nodes[index].status else { return [] }
    return settle(index, .idle)
  }

  mutating func didRelease(_ index: Int) -> [Action] { settle(index, .idle) }

  /// The process vanished: nothing is held any more, and nothing is released.
  mutating func loseEverything() {
    for index in nodes.indices {
      if nodes[index].status != .idle || nodes[index].missing != nil { changes.append(index) }
      nodes[index].status = .idle
      nodes[index].missing = nil
      nodes[index].failures = 0
      nodes[index].isAcquireCancelled = false
      nodes[index].isLate = false
      nodes[index].heldDependencies = 0
      nodes[index].busyDependents = 0
    }
    (openPhases, lingeringPhases) = ([], [])
    (tearingDown, awaited) = (0, 0)
  }
}

extension ResourceGraph {
  private func isBeingTornDown(_ index: Int) -> Bool { !isWanted(index) && nodes[index].status.isBusy }

  /// What is held, and not released yet, waits for another's operation.
  private func isAwaited(_ index: Int) -> Bool {
    !isWanted(index) && nodes[index].status.isBusy && nodes[index].status != .held && !nodes[index].isLate
  }

  /// An operation of one resource has ended: what it can do next, and what its neighbours can.
  private mutating func settle(_ index: Int, _ status: ResourceStatus) -> [Action] {
    nodes[index].isAcquireCancelled = false
    setStatus(index, status)
    return collectActions { graph in
      graph.consider(index)
      for dependent in graph.nodes[index].dependents { graph.consider(dependent) }
      for dependency in graph.nodes[index].dependencies.reversed() { graph.consider(dependency) }
    }
  }

  private mutating func setStatus(_ index: Int, _ status: ResourceStatus) {
    let former = nodes[index].status
    let (wasBeingTornDown, wasAwaited) = (isBeingTornDown(index), isAwaited(index))
    nodes[index].status = status
    // It is the operation that was late; the next one begins anew.
    nodes[index].isLate = false
    nodes[index].missing = nil
    tearingDown += (isBeingTornDown(index) ? 1 : 0) - (wasBeingTornDown ? 1 : 0)
    awaited += (isAwaited(index) ? 1 : 0) - (wasAwaited ? 1 : 0)
    if changes.last != index { changes.append(index) }
    if (status == .held) != (former == .held) {
      for dependent in nodes[index].dependents { nodes[dependent].heldDependencies += status == .held ? 1 : -1 }
    }
    if status.isBusy != former.isBusy {
      for dependency in nodes[index].dependencies { nodes[dependency].busyDependents += status.isBusy ? 1 : -1 }
    }
  }

  private mutating func collectActions(_ body: (inout ResourceGraph) -> Void) -> [Action] {
    body(&self)
    defer { actions = [] }
    return actions
  }

  /// Begins with one resource what can be begun now.
  private mutating func consider(_ index: Int) {
    let isWanted = isWanted(index)
    switch nodes[index].status {
    case .idle where isWanted && nodes[index].heldDependencies == nodes[index].dependencies.count:
      setStatus(index, .acquiring)
      actions.append(.acquire(index))
    case .idle: setMissing(index, isWanted ? nextMissing(index) : nil)
    case .acquiring where !isWanted && !nodes[index].isAcquireCancelled:
      nodes[index].isAcquireCancelled = true
      actions.append(.cancelAcquire(index))
    case .retrying where !isWanted:
      nodes[index].failures = 0
      setStatus(index, .idle)
      actions.append(.cancelRetry(index))
    case .held where !isWanted && !lingeringPhases.contains(nodes[index].phase) && nodes[index].busyDependents == 0:
      setStatus(index, .releasing)
      actions.append(.release(index))
    case .acquiring, .held, .releasing, .retrying, .waiting: break
    }
  }

  private mutating func setMissing(_ index: Int, _ missing: Int?) {
    guard missing != nodes[index].missing else { return }
    nodes[index].missing = missing
    changes.append(index)
  }

  /// The first dependency that is not held, from the one on that was missing last: each is passed but once, on average.
  private func nextMissing(_ index: Int) -> Int? {
    let dependencies = nodes[index].dependencies
    let start = nodes[index].missing ?? 0
    for step in dependencies.indices {
      let position = (start + step) % dependencies.count
      if nodes[dependencies[position]].status != .held { return position }
    }
    return nil
  }
}

extension ResourceStatus {
  /// Whether it is held or on the way there or back.
  fileprivate var isBusy: Bool {
    switch self {
    case .acquiring, .held, .releasing: true
    case .idle, .retrying, .waiting: false
    }
  }
}

extension LifecyclePhase {
  /// Which of two phases ends first; phases nest.
  fileprivate func narrower(_ other: LifecyclePhase) -> LifecyclePhase {
    if self == .active || other == .active { return .active }
    return self == .foreground || other == .foreground ? .foreground : .running
  }
}
