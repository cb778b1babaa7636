internal import Scheduling

// When a resource or body becomes ready, and what follows if it does not.

extension ResourceOperations {
  /// Whether it counts as held only after it has become ready.
  var awaitsReadiness: Bool {
    switch habits.readiness {
    case .atOnce: false
    case .checked: check != nil
    case .declared: run != nil
    }
  }
}

extension ResourceManager {
  /// Handles a declaration, which may have come before the end of the acquire; has no effect if none is due.
  func didDeclareReady(_ index: Int, lease number: Int) {
    guard let resource = resources[index], let lease = resource.lease, lease.number == number,
      case .declared = resource.operations.habits.readiness, resource.holding.isDeclaredReady(number)
    else { return }
    didBecomeReady(index, lease)
  }

  /// Handles the readiness of a lease; has no effect for one that is old, or no longer valid.
  ///
  /// A check may end when its resource is gone, and another one with a lease of the same number has the index.
  func didBecomeReady(_ index: Int, _ lease: HeldLease) {
    guard let resource = resources[index], resource.lease === lease, graph.status(of: index) == .held,
      !graph.isReady(index), resource.holding.isValid(lease.number)
    else { return }
    clearReadinessDeadline(lease)
    perform(graph.didBecomeReady(index))
  }

  /// Limits the time in which the loop or body must declare that it is ready.
  func setReadinessDeadline(of index: Int, _ lease: HeldLease) {
    guard let operations = resources[index]?.operations, case .declared(let limit) = operations.habits.readiness,
      !graph.isReady(index)
    else { return }
    lease.readinessTimer = deadlines?.set(running.instant(after: max(limit, .zero))) {
      [tasks, weak self, weak lease] in
      tasks.startOnMainActor { [weak self, weak lease] in
        guard let self, let lease, lease.readinessTimer != nil, let resource = resources[index],
          resource.lease === lease, graph.status(of: index) == .held
        else { return }
        lease.readinessTimer = nil
        let error = ResourceError.notReady(operations.name, after: limit)
        if operations.holding.invalidate(lease.number, because: error.description) {
          didInvalidate(index, lease: lease.number)
        }
        // A body has no health that could tell of it.
        if operations.body != nil {
          application?.report(error, of: operations.source, .body(while: resource.phase), hasRecipient: true)
        }
      }
    }
  }

  func clearReadinessDeadline(_ lease: HeldLease) {
    if let timer = lease.readinessTimer { deadlines?.clear(timer) }
    lease.readinessTimer = nil
  }
}
