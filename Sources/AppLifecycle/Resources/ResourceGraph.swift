/// Decides when managed resources are acquired and released, as a pure state machine.
///
/// A resource is acquired when its phase is open and everything that it depends on is held. It is released when its phase has
/// closed, when it is broken, or when it is no longer managed, and nothing that depends on it is held or on the way. Of each
/// resource one operation runs at a time, and every acquire that succeeded is followed by exactly one release. What one
/// resource does costs as much as it has neighbors; opening or closing a phase, as many as there are resources.
struct ResourceGraph {
  /// What the driver is to do.
  enum Action: Hashable {
    case acquire(Int)
    case cancelAcquire(Int)
    case release(Int)
    case retry(Int, failures: Int)
    case cancelRetry(Int)
    /// The resource is no longer managed, and nothing of it is left; its index is free after ``ResourceGraph/recycle(_:)``.
    case forget(Int)
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

  struct Node {
    /// Its own phase, or a narrower one of what it depends on: it cannot outlast that.
    let phase: LifecyclePhase
    let dependencies: [Int]
    /// So many failures in a row are followed by another attempt; nil if any number is.
    let maximumRetries: Int?
    /// Whether it is a body: it ends as soon as its phase's handlers have ended, before anything else is released.
    let isBody: Bool
    var dependents: [Int] = []
    var heldDependencies = 0
    /// Dependents that are held or on the way; while there are any, it stays.
    var busyDependents = 0
    var status = ResourceStatus.idle
    /// Where among its dependencies the one stands that it waits for; nil while it waits for none.
    var missing: Int?
    /// How often in a row it could not be acquired, or broke soon after.
    var failures = 0
    var isAcquireCancelled = false
    /// Whether its operation has been named as late: no tear-down waits for it any longer.
    var isLate = false
    /// Whether it is a late body, for which its dependencies do not wait.
    var hasLetGo = false
    /// Whether it broke while it was held: it is released, then acquired again.
    var isBroken = false
    /// Whether it is no longer managed: it is released, then forgotten.
    var isRemoved = false
    /// How many of its dependencies are leaving.
    var leavingDependencies = 0

    /// Whether it is to be released though its phase is open.
    var isLeaving: Bool { isBroken || isRemoved || leavingDependencies > 0 }
  }

  private(set) var nodes: [Node] = []
  /// The indices in use, in order of registration.
  private(set) var order: [Int] = []
  private var free: [Int] = []
  private var bodies = 0
  /// The phases that hold.
  private(set) var openPhases: PhaseSet = []
  /// The phases that have been left, but of which nothing is to be released yet.
  private(set) var lingeringPhases: PhaseSet = []
  /// Those of them whose bodies are to end.
  private var endingPhases: PhaseSet = []
  /// How many resources are held or on the way although their phase has closed.
  private(set) var tearingDown = 0
  /// How many of these have an operation under way that has not been named as late.
  private(set) var awaited = 0
  private var actions: [Action] = []
  private var changes: [Int] = []

  // MARK: Adding and removing

  /// The index that the next resource will have.
  var nextIndex: Int { free.last ?? nodes.count }

  /// Adds a resource behind those that it depends on.
  mutating func add(
    while phase: LifecyclePhase, after dependencies: [Int], maximumRetries: Int? = nil, isBody: Bool = false
  ) -> (index: Int, actions: [Action]) {
    let index = nextIndex
    var node = Node(
      phase: dependencies.reduce(phase) { $0.narrower(nodes[$1].phase) }, dependencies: dependencies,
      maximumRetries: maximumRetries, isBody: isBody)
    for dependency in dependencies {
      nodes[dependency].dependents.append(index)
      if nodes[dependency].status == .held { node.heldDependencies += 1 }
      if nodes[dependency].isLeaving { node.leavingDependencies += 1 }
    }
    if free.popLast() == nil { nodes.append(node) } else { nodes[index] = node }
    order.append(index)
    if isBody { bodies += 1 }
    return (index, collectActions { $0.consider(index) })
  }

  /// The resources that depend on one and are still managed, in order of registration.
  func managedDependents(of index: Int) -> [Int] { nodes[index].dependents.filter { !nodes[$0].isRemoved } }

  /// A resource on which none depends is no longer managed: it is released, and then forgotten.
  ///
  /// - Complexity: linear in the number of resources.
  mutating func remove(_ index: Int) -> [Action] {
    guard !nodes[index].isRemoved else { return [] }
    return collectActions { graph in
      for affected in graph.updateLeaving(index, { $0.isRemoved = true }).reversed() { graph.consider(affected) }
      graph.forgetIfRemoved(index)
    }
  }

  private mutating func forgetIfRemoved(_ index: Int) {
    guard nodes[index].isRemoved, nodes[index].status == .idle, let position = order.firstIndex(of: index) else {
      return
    }
    for dependency in nodes[index].dependencies { nodes[dependency].dependents.removeAll { $0 == index } }
    order.remove(at: position)
    if nodes[index].isBody { bodies -= 1 }
    actions.append(.forget(index))
  }

  /// The driver has forgotten a resource: its index may be used again.
  mutating func recycle(_ index: Int) { free.append(index) }

  // MARK: Phases

  /// Opens and closes phases; what closes is released in reverse, what opens is acquired in order of registration.
  ///
  /// Of phases that linger nothing is released yet, and nothing is acquired any more; bodies end where the phase is among
  /// `ending`.
  mutating func setOpenPhases(_ phases: PhaseSet, lingering: PhaseSet = [], ending: PhaseSet = []) -> [Action] {
    let endingPhases = bodies > 0 ? ending : []
    guard phases != openPhases || lingering != lingeringPhases || endingPhases != self.endingPhases else { return [] }
    (openPhases, lingeringPhases, self.endingPhases) = (phases, lingering, endingPhases)
    (tearingDown, awaited) = (0, 0)
    for index in order where isBeingTornDown(index) {
      tearingDown += 1
      if isAwaited(index) { awaited += 1 }
    }
    return collectActions { graph in
      for index in graph.order.reversed() where !graph.isWanted(index) { graph.consider(index) }
      for index in graph.order where graph.isWanted(index) { graph.consider(index) }
    }
  }

  // MARK: Breaking

  /// A resource that is held has broken: what depends on it is released in reverse, then it, and all is acquired again.
  ///
  /// No effect on a resource that is not held, or that is broken already. Where its phase is closing, it is released with that, and
  /// acquired again when the phase opens.
  ///
  /// - Parameters:
  ///   - index: the resource.
  ///   - failures: how many failures in a row there are now, this one included; 0 has it acquired again at once.
  /// - Returns: what is to be done now.
  mutating func invalidate(_ index: Int, failures: Int) -> [Action] {
    guard nodes[index].status == .held, !nodes[index].isBroken, !nodes[index].isRemoved else {
      return []
    }
    nodes[index].failures = failures
    return collectActions { graph in
      for affected in graph.updateLeaving(index, { $0.isBroken = true }).reversed() { graph.consider(affected) }
    }
  }

  /// Changes one resource, and with it which of its dependents have to be released.
  ///
  /// - Returns: those whose part in that has changed, in order of registration.
  private mutating func updateLeaving(_ index: Int, _ change: (inout Node) -> Void) -> [Int] {
    let was = nodes[index].isLeaving
    change(&nodes[index])
    let isLeaving = nodes[index].isLeaving
    guard was != isLeaving else { return [index] }
    var affected = [index]
    var next = 0
    while next < affected.count {
      for dependent in nodes[affected[next]].dependents {
        let was = nodes[dependent].isLeaving
        nodes[dependent].leavingDependencies += isLeaving ? 1 : -1
        if was != nodes[dependent].isLeaving { affected.append(dependent) }
      }
      next += 1
    }
    guard affected.count > 2 else { return affected }
    // In order of registration, as at the opening of a phase.
    let places = Dictionary(uniqueKeysWithValues: order.enumerated().map { ($1, $0) })
    return affected.sorted { places[$0, default: 0] < places[$1, default: 0] }
  }

  // MARK: Events

  /// What has happened to a resource: what is to be done now.
  mutating func handle(_ event: Event) -> [Action] {
    switch event {
    case .acquired(let index): didAcquire(index)
    case .failedToAcquire(let index): didFailToAcquire(index)
    case .released(let index): didRelease(index)
    case .retryIsDue(let index): retryIsDue(index)
    }
  }

  mutating func didAcquire(_ index: Int) -> [Action] { settle(index, .held) }

  /// Acquiring failed: it is tried again later, or it had been cancelled.
  mutating func didFailToAcquire(_ index: Int) -> [Action] {
    guard isWanted(index), !nodes[index].isAcquireCancelled else {
      nodes[index].failures = 0
      return settle(index, .idle)
    }
    nodes[index].failures += 1
    return settleFailure(index)
  }

  mutating func retryIsDue(_ index: Int) -> [Action] {
    guard case .retrying = nodes[index].status else { return [] }
    return settle(index, .idle)
  }

  /// It is to be tried again now, whether it waits to be tried again or has been given up.
  mutating func retryNow(_ index: Int) -> [Action] {
    switch nodes[index].status {
    case .retrying: return [.cancelRetry(index)] + settle(index, .idle)
    case .failed:
      nodes[index].failures = 0
      return settle(index, .idle)
    case .idle, .waiting, .acquiring, .held, .releasing: return []
    }
  }

  mutating func didRelease(_ index: Int) -> [Action] {
    let wasBroken = nodes[index].isBroken
    // Its dependents have been released before it, and wait for it from now on.
    if wasBroken { _ = updateLeaving(index) { $0.isBroken = false } }
    if wasBroken, isWanted(index), !nodes[index].isLeaving, nodes[index].failures > 0 { return settleFailure(index) }
    nodes[index].failures = 0
    return settle(index, .idle)
  }

  private mutating func settleFailure(_ index: Int) -> [Action] {
    let failures = nodes[index].failures
    if let maximum = nodes[index].maximumRetries, failures > maximum {
      return settle(index, .failed(failures: failures))
    }
    return [.retry(index, failures: failures)] + settle(index, .retrying(failures: failures))
  }

  /// The process vanished: nothing is held any more, and nothing is released.
  mutating func loseEverything() {
    for index in order {
      if nodes[index].status != .idle || nodes[index].missing != nil { changes.append(index) }
      nodes[index].status = .idle
      nodes[index].missing = nil
      nodes[index].failures = 0
      nodes[index].isAcquireCancelled = false
      nodes[index].isLate = false
      nodes[index].hasLetGo = false
      nodes[index].heldDependencies = 0
      nodes[index].busyDependents = 0
      nodes[index].isBroken = false
      nodes[index].leavingDependencies = 0
    }
    (openPhases, lingeringPhases, endingPhases) = ([], [], [])
    (tearingDown, awaited) = (0, 0)
  }

  /// Forgets what is no longer managed, after the process has vanished.
  mutating func forgetRemoved() -> [Action] {
    collectActions { graph in
      for index in graph.order where graph.nodes[index].isRemoved { graph.forgetIfRemoved(index) }
    }
  }

  // MARK: Late operations

  /// The operations of a tear-down that are under way are no longer waited for; which these are, in order of registration.
  mutating func markLate() -> [Int] {
    let late = order.filter { isAwaited($0) }
    for index in late { nodes[index].isLate = true }
    awaited -= late.count
    return late
  }

  /// One operation is no longer waited for.
  mutating func markLate(_ index: Int) {
    if isAwaited(index) { awaited -= 1 }
    nodes[index].isLate = true
  }

  /// A body that is late keeps nothing from being released any more; it begins anew only after it has ended.
  mutating func letGoOfDependencies(_ index: Int) -> [Action] {
    guard nodes[index].isBody, nodes[index].status == .releasing, !nodes[index].hasLetGo else { return [] }
    nodes[index].hasLetGo = true
    return collectActions { graph in
      for dependency in graph.nodes[index].dependencies.reversed() {
        graph.nodes[dependency].busyDependents -= 1
        graph.consider(dependency)
      }
    }
  }

  /// Those whose status has changed since this was last asked, in order; one that changed twice at once comes once.
  mutating func takeChanges() -> [Int] {
    defer { changes.removeAll(keepingCapacity: true) }
    return changes
  }
}

// MARK: - Steps

extension ResourceGraph {
  /// An operation of one resource has ended: what it can do next, and what its neighbors can.
  private mutating func settle(_ index: Int, _ status: ResourceStatus) -> [Action] {
    nodes[index].isAcquireCancelled = false
    setStatus(index, status)
    return collectActions { graph in
      graph.consider(index)
      for dependent in graph.nodes[index].dependents { graph.consider(dependent) }
      for dependency in graph.nodes[index].dependencies.reversed() { graph.consider(dependency) }
      graph.forgetIfRemoved(index)
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
    let hadLetGo = nodes[index].hasLetGo
    nodes[index].hasLetGo = false
    if status.isBusy != (former.isBusy && !hadLetGo) {
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
    let isKept = isWanted && !nodes[index].isLeaving
    switch nodes[index].status {
    case .idle where isKept && nodes[index].heldDependencies == nodes[index].dependencies.count:
      setStatus(index, .acquiring)
      actions.append(.acquire(index))
    case .idle: setMissing(index, isWanted && !nodes[index].isRemoved ? nextMissing(index) : nil)
    case .acquiring where !isKept && !nodes[index].isAcquireCancelled:
      nodes[index].isAcquireCancelled = true
      actions.append(.cancelAcquire(index))
    case .retrying where !isKept:
      actions.append(.cancelRetry(index))
      giveBack(index)
    case .failed where !isKept: giveBack(index)
    case .held where !isKept && mayBeReleased(index) && nodes[index].busyDependents == 0:
      setStatus(index, .releasing)
      actions.append(.release(index))
    case .acquiring, .held, .releasing, .retrying, .failed, .waiting: break
    }
  }

  /// What is not held is not wanted any more, or waits for a dependency again; its failures are forgotten.
  private mutating func giveBack(_ index: Int) {
    nodes[index].failures = 0
    setStatus(index, .idle)
    consider(index)
  }

  /// Whether its phase lets it go: handlers and bodies of a phase that lingers may use what is held and managed; bodies end
  /// before.
  private func mayBeReleased(_ index: Int) -> Bool {
    let node = nodes[index]
    return node.isRemoved || !lingeringPhases.contains(node.phase)
      || (node.isBody && endingPhases.contains(node.phase))
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
      let dependency = nodes[dependencies[position]]
      if dependency.status != .held || dependency.isLeaving { return position }
    }
    return nil
  }
}
