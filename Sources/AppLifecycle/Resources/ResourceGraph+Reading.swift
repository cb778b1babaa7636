// Queries of the driver to the graph.

extension ResourceGraph {
  func status(of index: Int) -> Status { nodes[index].status }

  /// Whether a held resource is ready; every body and resource that needs no readiness is.
  func isReady(_ index: Int) -> Bool { nodes[index].isReady }

  /// Whether a resource has failed for good.
  func hasFailed(_ index: Int) -> Bool { if case .failed = nodes[index].status { true } else { false } }

  func hasAnyFailed(_ indices: [Int]) -> Bool { indices.contains { hasFailed($0) } }

  /// Whether a resource is being acquired, or has been acquired and is not ready.
  func isBecomingHeld(_ index: Int) -> Bool {
    nodes[index].status == .acquiring || (nodes[index].status == .held && !nodes[index].isReady)
  }

  /// Whether every resource whose phase is open is held and ready.
  ///
  /// - Complexity: linear in the number of resources.
  var holdsAllWanted: Bool {
    order.allSatisfy { !isWanted($0) || nodes[$0].isRemoved || (nodes[$0].isUsable && !nodes[$0].isLeaving) }
  }

  /// Whether the phase closes, and its bodies have not ended: a body may still have its first run.
  func mayRunOnce(in phase: LifecyclePhase) -> Bool { lingeringPhases.contains(phase) || endingPhases.contains(phase) }

  /// Whether a body has its first run although its phase closes.
  func mayRunOnce(_ index: Int) -> Bool {
    nodes[index].owesRun && !nodes[index].isLeaving && !isWanted(index) && mayRunOnce(in: nodes[index].phase)
  }

  /// The narrowest of the phases of a resource and of all its dependencies.
  func phase(of index: Int) -> LifecyclePhase { nodes[index].phase }

  /// Whether the phase of a resource and the phases of all its dependencies are open.
  func isWanted(_ index: Int) -> Bool { openPhases.contains(nodes[index].phase) }

  /// The number of failures in a row: acquires that threw, and breaks soon after an acquire; 0 while the resource is
  /// held and ready.
  func failures(of index: Int) -> Int { nodes[index].isUsable ? 0 : nodes[index].failures }

  /// The dependency for which a resource waits; nil if it waits for none.
  func missingDependency(of index: Int) -> Int? { nodes[index].missing.map { nodes[index].dependencies[$0] } }

  /// The resources that are held, being acquired or being released although their phase has closed, in order of
  /// registration.
  var indicesBeingTornDown: [Int] { order.filter { isBeingTornDown($0) } }

  /// The resources that are being released, and will be acquired again right after, in order of registration.
  func releases(wantedIn phases: PhaseSet) -> [Int] {
    order.filter { nodes[$0].status == .releasing && !nodes[$0].isRemoved && phases.contains(nodes[$0].phase) }
  }

  /// Whether a body of the phase that must end still runs, and has not been reported as late.
  func isEndingBodies(of phase: LifecyclePhase) -> Bool {
    order.contains { nodes[$0].isBody && nodes[$0].phase == phase && isBeingTornDown($0) && !nodes[$0].isLate }
  }

  func isLate(_ index: Int) -> Bool { nodes[index].isLate }

  /// Whether the acquire of a resource was cancelled.
  func isAcquireCancelled(_ index: Int) -> Bool { nodes[index].isAcquireCancelled }

  func isRemoved(_ index: Int) -> Bool { nodes[index].isRemoved }

  func isBeingTornDown(_ index: Int) -> Bool { !isWanted(index) && nodes[index].status.isBusy }

  /// Whether a tear-down waits for the operation of a resource; a held resource waits for the operation of another one.
  func isAwaited(_ index: Int) -> Bool {
    !isWanted(index) && nodes[index].status.isBusy && nodes[index].status != .held && !nodes[index].isLate
  }
}
