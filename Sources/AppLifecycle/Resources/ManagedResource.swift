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
  private let whenUsedAfterRelease: @Sendable () -> Void

  private struct State {
    var handle: Handle?
    var status = ResourceStatus.idle
    /// Whether it has been held, and is not any more.
    var wasReleased = false
  }

  private let state = Guarded(State())

  init(
    name: String, phase: LifecyclePhase, index: Int, owner: ResourceManager,
    whenUsedAfterRelease: @escaping @Sendable () -> Void
  ) {
    self.name = name
    self.phase = phase
    self.index = index
    self.owner = owner
    self.whenUsedAfterRelease = whenUsedAfterRelease
  }

  /// What was acquired, while it is held; nil from the moment on at which its release begins.
  public var current: Handle? { state.withLock { $0.handle } }

  /// What was acquired.
  ///
  /// Who asks for it after its release was not told that it is gone, or did not listen: that is thrown, posted as
  /// ``Application/ResourceWasUsedAfterRelease``, and noted in the application's ledger. ``current`` is for those who want to
  /// know whether it is held.
  ///
  /// - Throws: ``ResourceError/notHeld(_:)`` before it was acquired, ``ResourceError/released(_:)`` from its release on, until
  ///   it is acquired again.
  public var value: Handle {
    get throws(ResourceError) {
      let (handle, wasReleased) = state.withLock { ($0.handle, $0.wasReleased) }
      if let handle { return handle }
      guard wasReleased else { throw .notHeld(name) }
      whenUsedAfterRelease()
      throw .released(name)
    }
  }

  /// What is being done with it.
  public var status: ResourceStatus { state.withLock { $0.status } }

  func setHandle(_ handle: Handle?) {
    // The former handle is released outside the lock.
    _ = state.withLock { state in
      defer {
        state.handle = handle
        // A process that vanishes releases nothing.
        state.wasReleased = false
      }
      return state.handle
    }
  }

  func takeHandle() -> Handle? {
    state.withLock { state in
      defer {
        state.handle = nil
        state.wasReleased = true
      }
      return state.handle
    }
  }

  func setStatus(_ status: ResourceStatus) { state.withLock { $0.status = status } }
}

/// What is being done with a managed resource.
public enum ResourceStatus: Sendable, Hashable {
  /// Nothing, as it is not wanted.
  case idle
  /// It is wanted, and waits for the resource of this name, on which it depends.
  ///
  /// Where several are missing it is the first in the order in which they were named.
  case waiting(for: String)
  /// It is being acquired.
  case acquiring
  /// It is held.
  case held
  /// It is being released.
  case releasing
  /// Acquiring it failed so many times in a row; it will be tried again.
  case retrying(failures: Int)
}
