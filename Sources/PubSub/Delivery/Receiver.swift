/// An object that holds events until they are handled: a mailbox, or the buffer of a sequence.
///
/// A post first has every receiver `hold` the event, perhaps under a lock. Then it has them `wake`, without a lock,
/// because a custom executor of the program may run code there. A measured post does both with one receiver after another.
@usableFromInline
class Receiver: @unchecked Sendable {
  init() {}

  /// Stores an event; does not start a task, and does not release an event.
  func hold(_ event: UnsafeRawPointer, of store: HandlerStore, _ purpose: HoldPurpose) -> HoldOutcome {
    preconditionFailure("a subclass must override this method")
  }

  /// Starts or resumes the task that handles the held events, and releases dropped events.
  ///
  /// Call it through `Posting.withoutSubject`: an executor may run the task at once, inside the frame of a post.
  func wake() { preconditionFailure("a subclass must override this method") }

  /// Refuses new events from now on.
  ///
  /// A mailbox drops those that it holds; the iterator of a sequence still returns them.
  func close() { preconditionFailure("a subclass must override this method") }

  var mailbox: AnyMailbox? { nil }

  /// Holds an event and wakes the receiver; returns false if it did not take the event.
  func take(_ event: UnsafeRawPointer, of store: HandlerStore, _ purpose: HoldPurpose) -> Bool {
    let outcome = hold(event, of: store, purpose)
    if outcome.contains(.mustWake) { Posting.withoutSubject(wake) }
    return outcome.contains(.isTaken)
  }
}

/// The reason for which a receiver holds an event.
enum HoldPurpose {
  /// No post waits for the event.
  case posted
  /// A post waits, but not for this receiver, which is a sequence, or whose handler waits for the poster or is reached after the wait
  /// has ended. No bound drops the event.
  case promised
  /// A post waits for the delivery of the event.
  case awaited(AwaitedDelivery)

  /// Whether no bound may drop the event: it is promised or awaited.
  var isPromised: Bool { if case .posted = self { false } else { true } }
  var delivery: AwaitedDelivery? { if case .awaited(let delivery) = self { delivery } else { nil } }
}

/// The result of having a receiver hold an event.
struct HoldOutcome: OptionSet {
  let rawValue: UInt8

  /// The receiver did not take the event: its subscription or its task was cancelled, or it has its only event.
  static let nothing: HoldOutcome = []
  /// The receiver holds the event, or has dropped it because it was full.
  static let isTaken = HoldOutcome(rawValue: 1)
  /// The caller must call `wake()`: the receiver sleeps, or it has dropped an event that must be released.
  static let mustWake = HoldOutcome(rawValue: 2)
}
