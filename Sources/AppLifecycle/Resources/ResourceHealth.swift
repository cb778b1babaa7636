public import PubSub

/// The condition of a managed resource.
public struct ResourceHealth: Sendable, Hashable {
  /// The resource's name.
  public var name: String
  /// The phase during which it is to be held.
  public var phase: LifecyclePhase
  /// Whether it is held, being acquired or released, or waiting.
  public var status: ResourceStatus
  /// The number of failures in a row: of acquires, and of breaks soon after them; 0 while it is held.
  public var failures: Int
  /// The latest error as text: of acquire or release, or the reason of an invalidation; it stays when the resource is acquired
  /// later.
  ///
  /// An error of a cancelled acquire does not count.
  public var lastError: String?
  /// When its status last changed, by the application's clock, since that was first read.
  public var since: Duration
  /// The time from its last failure to the next attempt; nil unless it is ``ResourceStatus/retrying(failures:)``.
  ///
  /// Counted from ``since``; ``RetryPolicy`` decides how long it is.
  public var retryDelay: Duration?
  /// Whether it broke while it was held, and has not been released yet; ``lastError`` says why it broke.
  public var isBroken: Bool

  /// The condition of a resource, made up for a view or a test.
  public init(
    name: String, phase: LifecyclePhase, status: ResourceStatus, failures: Int = 0, lastError: String? = nil,
    since: Duration = .zero, retryDelay: Duration? = nil, isBroken: Bool = false
  ) {
    (self.name, self.phase, self.status, self.failures) = (name, phase, status, failures)
    (self.lastError, self.since, self.retryDelay, self.isBroken) = (lastError, since, retryDelay, isBroken)
  }
}

extension Application {
  /// The condition of every managed resource, in order of registration.
  ///
  /// Observable: observers are told after the change.
  ///
  /// - Complexity: linear in their number.
  public var resources: [ResourceHealth] {
    observed.access(self, \.resources)
    return manager.health
  }

  /// The status of a managed resource changed.
  ///
  /// Posted from the application. A resource that depends on one that cannot be acquired has the status
  /// ``ResourceStatus/waiting(for:)``.
  public struct ResourceDidChange: MainActorEvent {
    /// The application that manages the resource.
    public let application: Application
    /// Its condition now.
    public let resource: ResourceHealth
  }

  /// The value of a managed resource was read after its release had begun.
  ///
  /// The read has thrown ``ResourceError/released(_:)``. Posted from the application, soon after.
  public struct ResourceWasUsedAfterRelease: MainActorEvent {
    /// The application that manages the resource.
    public let application: Application
    /// Its condition now.
    public let resource: ResourceHealth
  }

  func resourceDidChange(_ health: ResourceHealth) {
    bus.post(ResourceDidChange(application: self, resource: health), from: self)
  }

  func resourceWasUsedAfterRelease(_ health: ResourceHealth) {
    bus.post(ResourceWasUsedAfterRelease(application: self, resource: health), from: self)
  }
}
