internal import PubSub
internal import Synchronization

/// One run of a handler, or of a background task's operation, that transitions may wait for.
///
/// Bound in a ``HandlerContext``, which events that the handler waits for carry along. Tasks that the handler starts inherit it
/// and may outlive it, hence the flag.
final class AwaitedRun: AwaitedWork {
  /// Marks the application whose handler it is.
  let owner: WorkOwner
  /// The process in which it began.
  let generation: Int
  /// The lease for which it runs; nil if it belongs to no resource.
  let lease: ResourceLease?
  /// Asks it to end before it is cancelled; nil unless it is a body or a run loop.
  let closing: PhaseClosing?
  private let hasEnded = Atomic(false)

  init(of owner: WorkOwner, generation: Int, lease: ResourceLease? = nil, closing: PhaseClosing? = nil) {
    (self.owner, self.generation, self.lease, self.closing) = (owner, generation, lease, closing)
  }

  /// The run inside which the present task runs, or which started it; it may be over.
  static var bound: AwaitedRun? { HandlerContext.bound?.work as? AwaitedRun }

  var isOver: Bool {
    get { hasEnded.load(ordering: .acquiring) }
    set { hasEnded.store(newValue, ordering: .releasing) }
  }

  var isUnderWay: Bool { !isOver }
}
