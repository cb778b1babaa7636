// What the driver asks of the graph.

extension ResourceGraph {
  func status(of index: Int) -> ResourceStatus { nodes[index].status }

  /// Whether everything whose phase is open is held.
  ///
  /// - Complexity: linear in the number of resources.
  var holdsAllWanted: Bool {
    order.allSatisfy { !isWanted($0) || nodes[$0].isRemoved || (nodes[$0].status == .held && !nodes[$0].isLeaving) }
  }

  /// Whether its phase is open, and those of everything that it depends on.
  func isWanted(_ index: Int) -> Bool { openPhases.contains(nodes[index].phase) }

  /// How often in a row it could not be acquired, or broke soon after; 0 while it is held.
  func failures(of index: Int) -> Int { nodes[index].status == .held ? 0 : nodes[index].failures }

  /// The dependency that keeps it from being acquired; nil if none does.
  func missingDependency(of index: Int) -> Int? { nodes[index].missing.map { nodes[index].dependencies[$0] } }

  /// Which resources are held or on the way although their phase has closed, in order of registration.
  var indicesBeingTornDown: [Int] { order.filter { isBeingTornDown($0) } }

  /// The resources that are being released, and would be acquired again right after, in order of registration.
  func releases(wantedIn phases: PhaseSet) -> [Int] {
    order.filter { nodes[$0].status == .releasing && !nodes[$0].isRemoved && phases.contains(nodes[$0].phase) }
  }

  /// Whether a body of the phase that is to end still runs, and has not been named as late.
  func isEndingBodies(of phase: LifecyclePhase) -> Bool {
    order.contains { nodes[$0].isBody && nodes[$0].phase == phase && isBeingTornDown($0) && !nodes[$0].isLate }
  }

  func isLate(_ index: Int) -> Bool { nodes[index].isLate }

  /// Whether its acquire is not wanted any more.
  func isAcquireCancelled(_ index: Int) -> Bool { nodes[index].isAcquireCancelled }

  func isRemoved(_ index: Int) -> Bool { nodes[index].isRemoved }

  func isBeingTornDown(_ index: Int) -> Bool { !isWanted(index) && nodes[index].status.isBusy }

  /// Whether a tear-down waits for its operation; what is held, and not released yet, waits for another's operation.
  func isAwaited(_ index: Int) -> Bool {
    !isWanted(index) && nodes[index].status.isBusy && nodes[index].status != .held && !nodes[index].isLate
  }
}

extension ResourceStatus {
  /// Whether it is held or on the way there or back.
  var isBusy: Bool {
    switch self {
    case .acquiring, .held, .releasing: true
    case .idle, .retrying, .waiting, .failed: false
    }
  }
}

extension LifecyclePhase {
  /// Which of two phases ends first; phases nest.
  func narrower(_ other: LifecyclePhase) -> LifecyclePhase {
    if self == .active || other == .active { return .active }
    return self == .foreground || other == .foreground ? .foreground : .running
  }
}
