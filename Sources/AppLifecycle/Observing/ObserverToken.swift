internal import PubSub
internal import Synchronization

/// A token that keeps an observer of an application registered, until the token is cancelled or released.
///
/// Any thread may use a token.
public final class ObserverToken: Sendable {
  private let observation: Observation

  init(_ observer: TraceObserver) { observation = observer.observation }

  deinit { cancel() }

  /// Ends the observation.
  ///
  /// If called on the main actor, the observer is not called again after this method has returned. If called on another
  /// thread, a call of the observer that has begun continues. The method may be called any number of times, also by the
  /// observer itself.
  ///
  /// - Complexity: constant.
  public func cancel() { observation.end() }
}

/// An observer, which is called until its token is cancelled or released, or the application is gone.
final class TraceObserver: Sendable {
  let source: EventBus.Subscriber
  /// The code, which the token shares.
  ///
  /// A weak reference of the token to the observer instead would make each retain and release of the observer slow.
  let observation: Observation
  /// Whether the observer has thrown an error before.
  let hasFailed = Atomic(false)

  init(_ source: EventBus.Subscriber, _ body: @escaping Observation.Body) {
    self.source = source
    observation = Observation(body)
  }

  // The observing object often keeps the token, which keeps the observation, which keeps the object.
  deinit { observation.end() }
}

/// The code of an observer, until the observation ends.
///
/// Only the main actor calls it, and never within its own call. A call takes no lock and counts no reference, because
/// every event of a transition calls every observer.
final class Observation: Sendable {
  typealias Body = @MainActor @Sendable (TraceEvent) throws -> Void

  private final class Code: Sendable {
    let body: Body

    init(_ body: @escaping Body) { self.body = body }
  }

  private enum Phase: UInt8, AtomicRepresentable {
    case idle, inCall, ended
  }

  private let phase = Atomic(Phase.idle)
  /// Released when the observation has ended and no call is under way, so that captured objects are released.
  private let code: Unmanaged<Code>

  init(_ body: @escaping Body) { code = .passRetained(Code(body)) }

  /// Whether the observation has ended.
  var hasEnded: Bool { phase.load(ordering: .acquiring) == .ended }

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
