/// Decides when managed resources are acquired and released, as a pure state machine.
///
/// A resource is acquired when its phase is open and all its dependencies are held. It is released when its phase has
/// closed, when it is broken, or when it is no longer managed; but only when no dependent is busy. A *busy* resource is
/// held, being acquired or being released. Each resource has one operation at a time, and every successful acquire is
/// followed by exactly one release. An event of one resource costs time linear in the number of its neighbors; opening
/// or closing a phase, linear in the number of resources.
///
/// A late operation is *given up* when the phase of its resource has closed: its dependencies are then released without
/// it. The resource itself is not acquired again before the operation has ended.
struct ResourceGraph {
  private(set) var nodes: [Node] = []
  /// The indices in use, in order of registration.
  private(set) var order: [Int] = []
  private var free: [Int] = []
  private var bodies = 0
  /// The open phases.
  private(set) var openPhases: PhaseSet = []
  /// The closing phases whose resources must not be released yet.
  private(set) var lingeringPhases: PhaseSet = []
  /// The closing phases whose bodies must end.
  private(set) var endingPhases: PhaseSet = []
  /// The number of resources whose phase has closed, with a running operation that was not reported as late.
  private(set) var awaited = 0
  private var actions: [Action] = []
  private var changes: [Int] = []

  // MARK: Adding and removing

  /// The index that the next resource will have.
  var nextIndex: Int { free.last ?? nodes.count }

  /// Adds a resource after its dependencies.
  mutating func add(
    while phase: LifecyclePhase, after dependencies: [Int], maximumRetries: Int? = nil, isBody: Bool = false,
    awaitsReadiness: Bool = false, owesRun: Bool = false
  ) -> (index: Int, actions: [Action]) {
    let index = nextIndex
    var node = Node(
      phase: dependencies.reduce(phase) { $0.narrower(nodes[$1].phase) }, dependencies: dependencies,
      maximumRetries: maximumRetries, isBody: isBody, awaitsReadiness: awaitsReadiness,
      owesRun: owesRun)
    for dependency in dependencies {
      nodes[dependency].dependents.append(index)
      if nodes[dependency].isUsable { node.heldDependencies += 1 }
      if nodes[dependency].isLeaving { node.leavingDependencies += 1 }
    }
    if free.popLast() == nil { nodes.append(node) } else { nodes[index] = node }
    order.append(index)
    if isBody { bodies += 1 }
    return (index, collectActions { $0.consider(index) })
  }

  /// Returns the managed dependents of a resource, in order of registration.
  func managedDependents(of index: Int) -> [Int] { nodes[index].dependents.filter { !nodes[$0].isRemoved } }

  /// Stops managing a resource without dependents, which is then released and forgotten.
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

  /// Frees the index of a resource that the driver has forgotten.
  mutating func recycle(_ index: Int) { free.append(index) }

  // MARK: Phases

  /// Opens and closes phases; acquires resources in order of registration, and releases them in reverse order.
  ///
  /// In a lingering phase no resource is released yet, and none is acquired. The bodies of a phase in `ending` end.
  mutating func setOpenPhases(_ phases: PhaseSet, lingering: PhaseSet = [], ending: PhaseSet = []) -> [Action] {
    let endingPhases = bodies > 0 ? ending : []
    guard phases != openPhases || lingering != lingeringPhases || endingPhases != self.endingPhases else { return [] }
    let reopened = phases.intersection(lingeringPhases)
    (openPhases, lingeringPhases, self.endingPhases) = (phases, lingering, endingPhases)
    awaited = 0
    for index in order where isBeingTornDown(index) {
      if isAwaited(index) { awaited += 1 }
      // An operation that was late already while its phase was open.
      letGoIfGivenUp(index)
    }
    return collectActions { graph in
      if graph.bodies > 0, !reopened.isEmpty { graph.endBodies(of: reopened) }
      for index in graph.order.reversed() where !graph.isWanted(index) { graph.consider(index) }
      for index in graph.order where graph.isWanted(index) { graph.consider(index) }
    }
  }

  /// Ends the bodies of phases that opened again before their bodies were ended, so that they begin again.
  private mutating func endBodies(of phases: PhaseSet) {
    for index in order.reversed()
    where nodes[index].isBody && nodes[index].status == .held && phases.contains(nodes[index].phase) {
      _ = updateLeaving(index) { ($0.isBroken, $0.failures) = (true, 0) }
      consider(index)
    }
  }

  // MARK: Breaking

  /// Handles the break of a held resource: its dependents are released in reverse order, then the resource, and all are
  /// acquired again.
  ///
  /// The call has no effect if the resource is not held or already broken. If its phase is closing, the resource is
  /// released with the phase, and acquired again when the phase opens.
  ///
  /// - Parameters:
  ///   - index: the resource.
  ///   - failures: the number of failures in a row, including this one; with 0 the resource is acquired again at once.
  /// - Returns: the actions for the driver.
  mutating func invalidate(_ index: Int, failures: Int) -> [Action] {
    guard nodes[index].status == .held, !nodes[index].isBroken, !nodes[index].isRemoved else {
      return []
    }
    nodes[index].failures = failures
    return collectActions { graph in
      for affected in graph.updateLeaving(index, { $0.isBroken = true }).reversed() { graph.consider(affected) }
    }
  }

  /// Changes a resource, and updates which of its dependents must be released.
  ///
  /// - Returns: the resource and the dependents whose ``Node/isLeaving`` has changed, in order of registration.
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
    // Sort by registration, as when a phase opens.
    let places = Dictionary(uniqueKeysWithValues: order.enumerated().map { ($1, $0) })
    return affected.sorted { places[$0, default: 0] < places[$1, default: 0] }
  }

  // MARK: Events

  mutating func didAcquire(_ index: Int) -> [Action] {
    // What was acquired from a released dependency is released, and acquired anew without a wait.
    if nodes[index].isStale { nodes[index].failures = 0 }
    return settle(index, .held)
  }

  /// Handles the readiness of a held resource: its dependents are acquired.
  mutating func didBecomeReady(_ index: Int) -> [Action] {
    guard nodes[index].status == .held, !nodes[index].isReady else { return [] }
    nodes[index].isReady = true
    if changes.last != index { changes.append(index) }
    return collectActions { graph in
      for dependent in graph.nodes[index].dependents {
        graph.nodes[dependent].heldDependencies += 1
        graph.consider(dependent)
      }
    }
  }

  /// Handles a failed acquire: it is retried later, unless it was cancelled.
  mutating func didFailToAcquire(_ index: Int) -> [Action] {
    if nodes[index].isStale { _ = updateLeaving(index) { $0.isStale = false } }
    nodes[index].owesRun = nodes[index].owesRun && isWanted(index)
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

  /// Lets a resource that waits for its next attempt fail for good.
  mutating func giveUpRetry(_ index: Int) -> [Action] {
    guard case .retrying(let failures) = nodes[index].status else { return [] }
    return settle(index, .failed(failures: failures))
  }

  /// Tries a resource again now that waits for its next attempt or has failed for good.
  mutating func retryNow(_ index: Int) -> [Action] {
    switch nodes[index].status {
    case .retrying: return [.cancelRetry(index)] + settle(index, .idle)
    case .failed:
      nodes[index].failures = 0
      return settle(index, .idle)
    case .idle, .acquiring, .held, .releasing: return []
    }
  }

  mutating func didRelease(_ index: Int) -> [Action] {
    let wasBroken = nodes[index].isBroken
    // Its dependents were released before it, and now wait for it.
    if wasBroken || nodes[index].isStale { _ = updateLeaving(index) { ($0.isBroken, $0.isStale) = (false, false) } }
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

  /// Handles the loss of the process: no resource is held, and none is released.
  mutating func loseEverything() {
    for index in order {
      if nodes[index].status != .idle || nodes[index].missing != nil { changes.append(index) }
      nodes[index].status = .idle
      nodes[index].missing = nil
      nodes[index].failures = 0
      nodes[index].isAcquireCancelled = false
      nodes[index].isLate = false
      nodes[index].hasLetGo = false
      nodes[index].isStale = false
      nodes[index].heldDependencies = 0
      nodes[index].busyDependents = 0
      nodes[index].isBroken = false
      nodes[index].leavingDependencies = 0
    }
    (openPhases, lingeringPhases, endingPhases) = ([], [], [])
    awaited = 0
  }

  /// Forgets resources that are no longer managed, after the process has vanished.
  mutating func forgetRemoved() -> [Action] {
    collectActions { graph in
      for index in graph.order where graph.nodes[index].isRemoved { graph.forgetIfRemoved(index) }
    }
  }

  // MARK: Late operations

  /// Stops waiting for the running operations of a tear-down, and returns their resources in order of registration.
  mutating func markLate() -> [Int] {
    let late = order.filter { isAwaited($0) }
    for index in late { nodes[index].isLate = true }
    awaited -= late.count
    return late
  }

  /// Stops waiting for one operation.
  mutating func markLate(_ index: Int) {
    if isAwaited(index) { awaited -= 1 }
    nodes[index].isLate = true
  }

  /// Lets the dependencies of a late body be released without waiting for it; the body's next run still waits.
  mutating func letGoOfDependencies(_ index: Int) -> [Action] {
    guard nodes[index].isBody, nodes[index].status == .releasing else { return [] }
    return collectActions { graph in
      graph.letGo(index)
      for dependency in graph.nodes[index].dependencies.reversed() { graph.consider(dependency) }
    }
  }

  /// Gives up all late operations of resources whose phase has closed.
  mutating func giveUpLate() -> [Action] {
    collectActions { graph in
      let givenUp = graph.order.reversed().filter { graph.letGoIfGivenUp($0) }
      for index in givenUp {
        for dependency in graph.nodes[index].dependencies.reversed() { graph.consider(dependency) }
      }
    }
  }

  /// - Returns: whether the dependencies of the resource no longer wait for its operation since this call.
  @discardableResult
  private mutating func letGoIfGivenUp(_ index: Int) -> Bool {
    nodes[index].isLate && isBeingTornDown(index) && letGo(index)
  }

  @discardableResult
  private mutating func letGo(_ index: Int) -> Bool {
    guard !nodes[index].hasLetGo else { return false }
    nodes[index].hasLetGo = true
    for dependency in nodes[index].dependencies { nodes[dependency].busyDependents -= 1 }
    return true
  }

  /// Returns the resources whose status has changed since the last call, in order; consecutive changes of a resource
  /// count once.
  mutating func takeChanges() -> [Int] {
    var taken: [Int] = []
    swap(&taken, &changes)
    return taken
  }
}

// MARK: - Steps

extension ResourceGraph {
  /// Handles the end of an operation, and begins the next operations of the resource and its neighbors.
  private mutating func settle(_ index: Int, _ status: Status) -> [Action] {
    nodes[index].isAcquireCancelled = false
    setStatus(index, status)
    return collectActions { graph in
      graph.consider(index)
      for dependent in graph.nodes[index].dependents { graph.consider(dependent) }
      for dependency in graph.nodes[index].dependencies.reversed() { graph.consider(dependency) }
      graph.forgetIfRemoved(index)
    }
  }

  private mutating func setStatus(_ index: Int, _ status: Status) {
    let (former, wasUsable) = (nodes[index].status, nodes[index].isUsable)
    let wasAwaited = isAwaited(index)
    nodes[index].status = status
    nodes[index].isReady = status == .held && !nodes[index].awaitsReadiness
    if status == .held { nodes[index].owesRun = false }
    // Only the operation that ended was late, not the next one.
    nodes[index].isLate = false
    nodes[index].missing = nil
    awaited += (isAwaited(index) ? 1 : 0) - (wasAwaited ? 1 : 0)
    if changes.last != index { changes.append(index) }
    if nodes[index].isUsable != wasUsable {
      for dependent in nodes[index].dependents {
        nodes[dependent].heldDependencies += wasUsable ? -1 : 1
        // Only an acquire that was given up still runs when its dependency is released.
        if status == .releasing, nodes[dependent].status == .acquiring {
          _ = updateLeaving(dependent) { $0.isStale = true }
        }
      }
    }
    let heldItsDependencies = former.isBusy && !nodes[index].hasLetGo
    // A late acquire that succeeds holds its dependencies again, unless one of them was released meanwhile.
    nodes[index].hasLetGo = nodes[index].hasLetGo && nodes[index].isStale && status.isBusy
    let holdsItsDependencies = status.isBusy && !nodes[index].hasLetGo
    if holdsItsDependencies != heldItsDependencies {
      for dependency in nodes[index].dependencies {
        nodes[dependency].busyDependents += holdsItsDependencies ? 1 : -1
      }
    }
  }

  private mutating func collectActions(_ body: (inout ResourceGraph) -> Void) -> [Action] {
    body(&self)
    var collected: [Action] = []
    swap(&collected, &actions)
    return collected
  }

  /// Begins the next operation of a resource if its conditions are met.
  private mutating func consider(_ index: Int) {
    let isWanted = isWanted(index)
    let isKept = isWanted && !nodes[index].isLeaving
    switch nodes[index].status {
    case .idle
    where (isKept || mayRunOnce(index)) && nodes[index].heldDependencies == nodes[index].dependencies.count:
      setStatus(index, .acquiring)
      actions.append(.acquire(index))
    case .idle: setMissing(index, isWanted && !nodes[index].isRemoved ? nextMissing(index) : nil)
    case .acquiring where !isKept && !mayRunOnce(index) && !nodes[index].isAcquireCancelled:
      nodes[index].isAcquireCancelled = true
      actions.append(.cancelAcquire(index))
    case .retrying where !isKept:
      actions.append(.cancelRetry(index))
      giveBack(index)
    case .failed where !isKept: giveBack(index)
    case .held where !isKept && mayBeReleased(index) && nodes[index].busyDependents == 0:
      setStatus(index, .releasing)
      actions.append(.release(index))
    case .acquiring, .held, .releasing, .retrying, .failed: break
    }
  }

  /// Resets a resource that is not held, because it is no longer needed or waits for a dependency again; clears its
  /// failures.
  private mutating func giveBack(_ index: Int) {
    nodes[index].failures = 0
    setStatus(index, .idle)
    consider(index)
  }

  /// Whether the phase of a resource allows its release.
  ///
  /// Handlers and bodies of a lingering phase may use held resources, so these stay. Bodies end first.
  private func mayBeReleased(_ index: Int) -> Bool {
    nodes[index].isRemoved || !lingeringPhases.contains(nodes[index].phase)
      || (nodes[index].isBody && endingPhases.contains(nodes[index].phase))
  }

  private mutating func setMissing(_ index: Int, _ missing: Int?) {
    guard missing != nodes[index].missing else { return }
    nodes[index].missing = missing
    changes.append(index)
  }

  /// Returns the position of the first dependency that is not held; nil if all are.
  ///
  /// The search begins at the last missing dependency, so that it passes each dependency only once on average.
  private func nextMissing(_ index: Int) -> Int? {
    let dependencies = nodes[index].dependencies
    let start = nodes[index].missing ?? 0
    for step in dependencies.indices {
      let position = (start + step) % dependencies.count
      if !nodes[dependencies[position]].isUsable || nodes[dependencies[position]].isLeaving { return position }
    }
    return nil
  }
}
