internal import PubSub
internal import Synchronization

/// A token that keeps an observer of an application registered, until the token is cancelled or released.
///
/// Any thread may use a token.
public final class ObserverToken: Sendable {
  // Weak, because the observing object often keeps the token, which would be a reference cycle.
  private weak let observer: TraceObserver?

  init(_ observer: TraceObserver) { self.observer = observer }

  deinit { cancel() }

  /// Ends the observation.
  ///
  /// If called on the main actor, the observer is not called again after this method has returned. If called on another
  /// thread, a call of the observer that has begun continues. The method may be called any number of times, also by the
  /// observer itself.
  ///
  /// - Complexity: constant.
  public func cancel() { observer?.end() }
}

/// An observer, which is called until its token is cancelled or released.
///
/// Only the main actor calls it, and never within its own call. A call takes no lock and counts no reference, because
/// every event of a transition calls every observer.
final class TraceObserver: Sendable {
  typealias Body = @MainActor @Sendable (TraceEvent) throws -> Void

  private final class Code: Sendable {
    let body: Body

    init(_ body: @escaping Body) { self.body = body }
  }

  private enum Phase: UInt8, AtomicRepresentable {
    case idle, inCall, ended
  }

  let source: Subscriber
  private let phase = Atomic(Phase.idle)
  /// Released when the observation has ended and no call is under way, so that captured objects are released.
  private let code: Unmanaged<Code>
  /// Whether the observer has thrown an error before.
  let hasFailed = Atomic(false)

  init(_ source: Subscriber, _ body: @escaping Body) {
    self.source = source
    code = .passRetained(Code(body))
  }

  deinit { end() }

  /// Whether the observation has ended.
  var isCancelled: Bool { phase.load(ordering: .acquiring) == .ended }

  @MainActor func call(_ event: TraceEvent) throws {
    guard phase.compareExchange(expected: .idle, desired: .inCall, ordering: .acquiring).exchanged else { return }
    // An observation that ended during the call left its code to it.
    defer {
      if !phase.compareExchange(expected: .inCall, desired: .idle, ordering: .acquiringAndReleasing).exchanged {
        code.release()
      }
    }
    try code._withUnsafeGuaranteedRef { try $0.body(event) }
  }

  func end() {
    if phase.exchange(.ended, ordering: .acquiringAndReleasing) == .idle { code.release() }
  }
}
