internal import PubSub
internal import Scheduling

// Reading the condition of each resource, and posting its changes.

extension ResourceManager {
  /// The condition of each resource, in order of registration; without bodies.
  var health: [ResourceHealth] {
    graph.order.compactMap { index in
      guard let resource = resources[index], !resource.isBody, !graph.isRemoved(index) else {
        return nil
      }
      return health(of: index, resource)
    }
  }

  func health(of index: Int, _ resource: Resource) -> ResourceHealth {
    let status = status(of: index)
    let isRetrying = if case .retrying = status { true } else { false }
    return ResourceHealth(
      name: resource.operations.name, phase: resource.phase, status: status, failures: graph.failures(of: index),
      lastError: resource.lastError, since: resource.since, retryDelay: isRetrying ? resource.retryDelay : nil,
      isBroken: graph.nodes[index].isBroken)
  }

  private func status(of index: Int) -> ResourceStatus {
    if let missing = graph.missingDependency(of: index), let dependency = resources[missing] {
      return .waiting(for: dependency.operations.name)
    }
    return switch graph.status(of: index) {
    case .idle: .idle
    case .acquiring, .held: graph.isBecomingHeld(index) ? .acquiring : .held
    case .releasing: .releasing
    case .retrying(let failures): .retrying(failures: failures)
    case .failed(let failures): .failed(failures: failures)
    }
  }

  func announce(_ changes: [Int], at time: Duration) {
    var (unchanged, idle): ([Int], [ResourceOperations]) = ([], [])
    for index in changes {
      guard let resource = resources[index] else { continue }
      // A resource that has been acquired, and is not ready, has the status that it had before.
      if graph.isBecomingHeld(index), resource.holding.presentStatus == .acquiring {
        unchanged.append(index)
        continue
      }
      let status = status(of: index)
      resource.since = time
      resource.holding.setStatus(status)
      if status == .idle, resource.isBody, !isOpen(resource.phase) { idle.append(resource.operations) }
    }
    if parts?.values.observed.isUsed == true { application?.resourcesDidChange() }
    // These closures may release an owner, whose deinitializer may call the application.
    for operations in idle { operations.becameIdle?() }
    guard parts?.bus.hasReceivers(of: Application.ResourceDidChange.self) == true, let application else { return }
    for index in changes where !unchanged.contains(index) {
      guard let resource = resources[index], !resource.isBody else { continue }
      // If another resource has this name now, an event with the name would be about that resource.
      if graph.isRemoved(index), self.index(named: resource.operations.name) != nil { continue }
      application.resourceDidChange(health(of: index, resource))
    }
  }

  /// Notes the read of a resource after its release.
  func wasUsedAfterRelease(_ index: Int) {
    guard let resource = resources[index] else { return }
    application?.note(
      LedgerEntry(
        .resource, resource.operations.name, step: CallStep.use.rawValue, began: clock.now(), duration: .zero,
        outcome: .usedAfterRelease))
  }
}
