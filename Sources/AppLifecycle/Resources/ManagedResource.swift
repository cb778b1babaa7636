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

  let holding = ResourceHolding()

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
  public var current: Handle? { holding.handle.map(Self.unboxed) }

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
      if let current { return current }
      guard holding.wasReleased else { throw .notHeld(name) }
      whenUsedAfterRelease()
      throw .released(name)
    }
  }

  /// What is being done with it.
  public var status: ResourceStatus { holding.status }

  /// A handle in a form that does not tell its type.
  static func boxed(_ handle: Handle) -> HeldHandle { HandleBox(handle) }

  /// The handle that this resource's own ``boxed(_:)`` put away.
  static func unboxed(_ box: HeldHandle) -> Handle { unsafeDowncast(box, to: HandleBox<Handle>.self).handle }
}

/// A handle whose type is forgotten.
class HeldHandle: @unchecked Sendable {}

private final class HandleBox<Handle: Sendable>: HeldHandle, @unchecked Sendable {
  let handle: Handle
  init(_ handle: Handle) { self.handle = handle }
}

/// What is held of a managed resource, and how it fares, for readers on any thread.
///
/// The type of the handle is forgotten: behind a lock it would be looked up at each access.
final class ResourceHolding: @unchecked Sendable {
  private struct State {
    var handle: HeldHandle?
    var status = ResourceStatus.idle
    /// Whether it has been held, and is not any more.
    var wasReleased = false
  }

  private let lock = Lock()
  /// Guarded by the lock, which is why the compiler's check of each access is left out.
  @exclusivity(unchecked) private var state = State()

  var handle: HeldHandle? { read.handle }
  var wasReleased: Bool { read.wasReleased }
  var status: ResourceStatus { read.status }

  private var read: State {
    var read = State()
    lock.withLock { read = state }
    return read
  }

  /// Holds a handle; or none, as the process has vanished, which releases nothing.
  func hold(_ handle: HeldHandle?) { _ = exchange(handle, wasReleased: false) }

  /// Takes the handle away: its release begins.
  func take() -> HeldHandle? { exchange(nil, wasReleased: true) }

  /// Returns the former handle, which is not to be let go of inside the lock.
  private func exchange(_ handle: HeldHandle?, wasReleased: Bool) -> HeldHandle? {
    var handle = handle
    lock.withLock {
      swap(&state.handle, &handle)
      state.wasReleased = wasReleased
    }
    return handle
  }

  func setStatus(_ status: ResourceStatus) { lock.withLock { state.status = status } }
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
