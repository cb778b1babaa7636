internal import PubSub
internal import Synchronization

/// An observer, which is called until its token is cancelled or released, or the application is gone.
final class TraceObserver: Sendable {
  let source: EventBus.Subscriber
  /// The code, which the token shares.
  ///
  /// A weak reference of the token to the observer instead would make each retain and release of the observer slow.
  let body: ObserverBody
  /// Whether the observer has thrown an error before.
  let hasFailed = Atomic(false)

  init(_ source: EventBus.Subscriber, _ body: @escaping ObserverBody.Function) {
    self.source = source
    self.body = ObserverBody(body)
  }

  // The observing object often keeps the token, which keeps the body, which keeps the object.
  deinit { body.end() }
}

/// The code of an observer, until the observation ends.
///
/// Only the main actor calls it, and never within its own call. A call takes no lock and counts no reference, because
/// every event of a transition calls every observer.
final class ObserverBody: Sendable {
  typealias Function = @MainActor @Sendable (TraceEvent) throws -> Void

  private final class Code: Sendable {
    /// The function without its isolation, because a closure on the main actor that the standard library calls, as in
    /// ``call(_:)``, looks at its executor each time.
    let body: @Sendable (TraceEvent) throws -> Void

    init(_ body: @escaping Function) {
      self.body = unsafeBitCast(body, to: (@Sendable (TraceEvent) throws -> Void).self)
    }
  }

  private enum Phase: UInt8, AtomicRepresentable {
    case idle, inCall, ended
  }

  private let phase = Atomic(Phase.idle)
  /// Released when the observation has ended and no call is under way, so that captured objects are released.
  private let code: Unmanaged<Code>

  init(_ body: @escaping Function) { code = .passRetained(Code(body)) }

  /// Whether the observation has ended.
  var hasEnded: Bool { phase.load(ordering: .acquiring) == .ended }

  /// Calls the code; only for the main actor.
  func call(_ event: TraceEvent) throws {
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
