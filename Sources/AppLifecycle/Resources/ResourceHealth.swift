internal import PubSub

/// The condition of a managed resource.
public struct ResourceHealth: Sendable, Hashable {
  /// The resource's name.
  public var name: String
  /// The phase during which the resource is held.
  public var phase: LifecyclePhase
  /// The status of the resource: held, being acquired or released, or waiting.
  public var status: ResourceStatus
  /// The number of failures in a row: acquires that threw, and breaks soon after an acquire; 0 while it is held.
  public var failures: Int
  /// The latest error as text; a later successful acquire does not clear it.
  ///
  /// It is the error of an acquire or a release, or the reason of an invalidation. The error of a cancelled acquire
  /// does not count.
  public var lastError: String?
  /// The time of the latest change of its status, by the application's clock, counted from the creation of the
  /// application.
  public var since: Duration
  /// The time from the latest failure to the next attempt; nil unless the status is
  /// ``ResourceStatus/retrying(failures:)``.
  ///
  /// It counts from ``since``. The ``RetryPolicy`` determines its length.
  public var retryDelay: Duration?
  /// Whether the resource broke while it was held, and has not been released yet; ``lastError`` has the reason.
  package var isBroken: Bool

  package init(
    name: String, phase: LifecyclePhase, status: ResourceStatus, failures: Int = 0, lastError: String? = nil,
    since: Duration = .zero, retryDelay: Duration? = nil, isBroken: Bool = false
  ) {
    (self.name, self.phase, self.status, self.failures) = (name, phase, status, failures)
    (self.lastError, self.since, self.retryDelay, self.isBroken) = (lastError, since, retryDelay, isBroken)
  }
}

extension Application {
  /// The condition of each managed resource, in order of registration.
  ///
  /// Observable; observers are notified after the change.
  ///
  /// - Complexity: linear in their number.
  public var resources: [ResourceHealth] {
    present.observed.access(self, \.resources)
    return presentResources
  }
  /// The same, read without notifying Observation; for use inside the package.
  package var presentResources: [ResourceHealth] { manager.health }

  func resourceDidChange(_ health: ResourceHealth) {
    bus.post(ResourceDidChange(application: self, resource: health), from: self)
  }
}
