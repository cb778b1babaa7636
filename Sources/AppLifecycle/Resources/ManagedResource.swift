public import Observation
internal import PubSub

/// A resource that an application acquires and releases as its life cycle goes.
///
/// `Application.manage` makes it.
///
/// May be read from any isolation. ``current``, ``value`` and ``status`` are observable.
public final class ManagedResource<Handle: Sendable>: Sendable, Observable {
  /// The resource's name, unique in its application.
  public let name: String
  /// The phase during which it is held.
  public let phase: LifecyclePhase
  let index: Int
  /// Weak, and no identifier: another application's manager may come to lie where a former one lay.
  weak let owner: ResourceManager?
  private let tasks: TaskStarter

  let holding = ResourceHolding()

  init(name: String, phase: LifecyclePhase, index: Int, owner: ResourceManager, tasks: TaskStarter) {
    self.name = name
    self.phase = phase
    self.index = index
    self.owner = owner
    self.tasks = tasks
  }

  /// Has the manager do something with the resource on the main actor, unless it is managed no longer by then.
  private func perform(_ action: @escaping @MainActor @Sendable (ResourceManager, Int) -> Void) {
    HandlerContext.outside {
      tasks.startOnMainActor { [weak owner, index, holding] in
        if let owner, owner.manages(holding, at: index) { action(owner, index) }
      }
    }
  }

  /// The handle while the resource is held, else nil; it is nil from the beginning of the release on.
  public var current: Handle? { holding.handle.map(Self.unboxed) }

  /// The handle of the resource.
  ///
  /// A use after the release throws, is posted as ``Application/ResourceWasUsedAfterRelease``, and is noted in the
  /// application's ledger. If the resource is no longer managed, the use only throws. To ask whether the resource is held, use
  /// ``current``.
  ///
  /// - Throws: ``ResourceError/notHeld(_:)`` before it was acquired, ``ResourceError/released(_:)`` from its release on, until
  ///   it is acquired again.
  public var value: Handle {
    get throws(ResourceError) {
      if let current { return current }
      guard holding.wasReleased else { throw .notHeld(name) }
      perform { $0.wasUsedAfterRelease($1) }
      throw .released(name)
    }
  }

  /// Whether the resource is held, being acquired or released, or waiting.
  public var status: ResourceStatus { holding.status }

  /// Declares the resource broken: its dependents and it are released, the last dependents first, and acquired again.
  ///
  /// May be called from any thread, also from the handle's own callbacks. A callback that may come late uses ``ResourceLease``
  /// instead. A second call has no effect, nor has a call for a resource that is neither held nor being acquired. While the
  /// acquire is under way, the resource is released as soon as the acquire has succeeded.
  ///
  /// A resource that was held for ``RetryPolicy/resetAfter`` is acquired again at once, any other after the wait of its
  /// ``RetryPolicy``.
  ///
  /// - Parameter error: what broke it; ``ResourceHealth/lastError`` and the ledger show it.
  public func invalidate(because error: any Error) {
    guard let lease = holding.lease, holding.invalidate(lease, because: String(describing: error)) else { return }
    perform { $0.didInvalidate($1, lease: lease) }
  }

  /// Acquires the resource now, if it waits for its next attempt or has been given up; else has no effect.
  ///
  /// May be called from any thread. A resource that was given up begins a new row of failures.
  public func retry() { perform { $0.retryNow($1) } }

  /// A handle in a form that does not tell its type.
  static func boxed(_ handle: Handle) -> HeldHandle { HandleBox(handle) }

  /// The handle that this resource's own ``boxed(_:)`` put away.
  static func unboxed(_ box: HeldHandle) -> Handle { unsafeDowncast(box, to: HandleBox<Handle>.self).handle }
}

/// The status of a managed resource.
public enum ResourceStatus: Sendable, Hashable {
  /// It is not wanted, and is not held.
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
  /// Acquiring it failed, or it broke soon after, so many times in a row; it will be tried again.
  case retrying(failures: Int)
  /// It failed so many times in a row, one more than its ``RetryPolicy/maximumRetries`` allow; it is not tried again by itself.
  ///
  /// ``ManagedResource/retry()`` tries it again, and so does the next opening of its phase or the return of a resource that
  /// it depends on.
  case failed(failures: Int)
}

extension ResourceStatus: CustomStringConvertible {
  /// The status in words: `held`, `waiting for database`, `retrying (3 failures)`.
  public var description: String {
    switch self {
    case .idle: "idle"
    case .waiting(let name): "waiting for \(name)"
    case .acquiring: "acquiring"
    case .held: "held"
    case .releasing: "releasing"
    case .retrying(let failures): "retrying (\(Self.count(failures)))"
    case .failed(let failures): "given up (\(Self.count(failures)))"
    }
  }

  private static func count(_ failures: Int) -> String { failures == 1 ? "1 failure" : "\(failures) failures" }
}
