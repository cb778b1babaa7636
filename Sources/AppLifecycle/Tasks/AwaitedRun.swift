internal import PubSub
internal import Synchronization

/// One run of a handler, or of another piece of code, for which transitions may wait.
///
/// It is bound in a ``HandlerContext``, and the bus's graph of waits knows what it waits for. Tasks that the handler
/// starts inherit the context and may outlive the run, so a flag marks the end of the run.
final class AwaitedRun: AwaitedWork {
  /// The scope of the application whose code it is.
  let scope: WorkScope
  /// The generation of the process in which it began.
  let generation: Int
  /// The lease for which it runs; nil if it belongs to no resource.
  let lease: ResourceLease?
  /// The request to end before a cancellation; nil unless the run is that of a body or a run loop.
  let closing: PhaseClosing?
  private let hasEnded = Atomic(false)
  private let wasAskedAtOnce = Atomic(false)

  init(of scope: WorkScope, generation: Int, lease: ResourceLease? = nil, closing: PhaseClosing? = nil) {
    (self.scope, self.generation, self.lease, self.closing) = (scope, generation, lease, closing)
  }

  /// The run inside which the present task runs, or which started it; it may be over.
  static var bound: AwaitedRun? { HandlerContext.current?.work as? AwaitedRun }

  var isOver: Bool {
    get { hasEnded.load(ordering: .acquiring) }
    set { hasEnded.store(newValue, ordering: .releasing) }
  }

  /// Whether it is the only run of a body whose phase closes.
  var isAskedAtOnce: Bool {
    get { wasAskedAtOnce.load(ordering: .acquiring) }
    set { wasAskedAtOnce.store(newValue, ordering: .releasing) }
  }

  var isUnderWay: Bool { !isOver }

  var isRepeated: Bool { closing != nil }
}
