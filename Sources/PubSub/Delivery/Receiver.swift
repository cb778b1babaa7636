/// What holds events until they are handled: a mailbox, or the buffer of a sequence.
///
/// An event is given in two steps. The first one holds it, and may be taken under a lock. The second one starts whatever handles it,
/// which may call code of the program's, as it makes a job for an executor.
@usableFromInline
class Receiver: @unchecked Sendable {
  init() {}

  /// Holds an event; starts nothing and releases nothing.
  func hold(_ event: UnsafeRawPointer, of store: HandlerStore, _ purpose: HoldPurpose) -> HoldOutcome {
    preconditionFailure("a receiver of no type")
  }

  /// Starts what handles the events that are held, and releases those that were dropped.
  func wake() { preconditionFailure("a receiver of no type") }

  /// The receiver, if it is a mailbox.
  var mailbox: (any AsynchronousReceiver)? { nil }

  /// Holds an event and starts what handles it; false if it takes no more, as it was cancelled.
  func take(_ event: UnsafeRawPointer, of store: HandlerStore, _ purpose: HoldPurpose) -> Bool {
    let outcome = hold(event, of: store, purpose)
    if outcome.contains(.sleeps) { wake() }
    return outcome.contains(.isHeld)
  }
}

/// For what an event is held.
enum HoldPurpose {
  /// A post does not wait for it.
  case posted
  /// A post does not wait for it, and no bound may drop it.
  case promised
  /// A post waits for it.
  case awaited(AwaitedDelivery)
}

/// What became of an event that a receiver was given.
struct HoldOutcome: OptionSet {
  let rawValue: UInt8

  /// The receiver's subscription has been cancelled.
  static let nothing: HoldOutcome = []
  /// It is held, or was lost to a bound.
  static let isHeld = HoldOutcome(rawValue: 1)
  /// The receiver sleeps, or has dropped an event that is to be released: `wake()` must be called.
  static let sleeps = HoldOutcome(rawValue: 2)
}
