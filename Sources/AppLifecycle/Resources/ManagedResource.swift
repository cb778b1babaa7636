internal import PubSub

/// Something that an application acquires and releases as its life cycle goes; see
/// ``Application/manage(_:while:after:acquire:release:)``.
///
/// May be read from any isolation.
public final class ManagedResource<Handle: Sendable>: Sendable {
  /// The resource's name, unique in its application.
  public let name: String
  /// When it is held.
  public let phase: LifecyclePhase
  let index: Int
  /// Weak, and no identifier: another application's manager may come to lie where a former one lay.
  weak let owner: ResourceManager?

  private struct State {
    var handle: Handle?
    var status = ResourceStatus.idle
  }

  private let state = Guarded(State())

  init(name: String, phase: LifecyclePhase, index: Int, owner: ResourceManager) {
    self.name = name
    self.phase = phase
    self.index = index
    self.owner = owner
  }

  /// What was acquired, while it is held; nil from the moment on at which its release begins.
  public var current: Handle? { state.withLock { $0.handle } }

  /// What was acquired.
  ///
  /// - Throws: ``ResourceError/notHeld(_:)`` before it was acquired and from its release on.
  public var value: Handle {
    get throws(ResourceError) {
      guard let handle = current else { throw .notHeld(name) }
      return handle
    }
  }

  /// What is being done with it.
  public var status: ResourceStatus { state.withLock { $0.status } }

  func setHandle(_ handle: Handle?) {
    // The former handle is released outside the lock.
    _ = state.withLock { state in
      defer { state.handle = handle }
      return state.handle
    }
  }

  func takeHandle() -> Handle? {
    state.withLock { state in
      defer { state.handle = nil }
      return state.handle
    }
  }

  func setStatus(_ status: ResourceStatus) { state.withLock { $0.status = status } }
}

/// What is being done with a managed resource.
public enum ResourceStatus: Sendable, Hashable {
  /// Nothing: not wanted, or waiting for what it depends on.
  case idle
  /// It is being acquired.
  case acquiring
  /// It is held.
  case held
  /// It is being released.
  case releasing
  /// Acquiring it failed so many times in a row; it will be tried again.
  case retrying(failures: Int)
}
