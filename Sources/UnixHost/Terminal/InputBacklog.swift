import Scheduling

/// The amount of terminal input that waits for the main actor, and whether a drawing does.
///
/// Only the host's thread adds, and only the main actor removes.
final class InputBacklog: Sendable {
  /// The amount from which the backlog is full: several pastes of the greatest length, or some ten thousand keys.
  static let limit = 8 << 20
  /// The amount of an event, in addition to its bytes.
  static let eventCost = 256

  private let amount = Guarded(0)
  private let hasDisplay = Guarded(false)
  private let didMakeRoom: @Sendable () -> Void

  /// Creates an empty backlog.
  ///
  /// - Parameter didMakeRoom: called on the main actor when a full backlog is no longer full.
  init(didMakeRoom: @escaping @Sendable () -> Void) { self.didMakeRoom = didMakeRoom }

  var isFull: Bool { amount.withLock { $0 >= Self.limit } }

  /// Returns the amount of an event.
  ///
  /// A paste holds its text once more: its bytes belonged to earlier events.
  static func cost(of keys: [Terminal.Key], _ bytes: [UInt8]) -> Int {
    keys.reduce(eventCost + bytes.count) { cost, key in
      if case .paste(let text, _) = key {
        cost + text.utf8.count
      } else {
        cost + MemoryLayout<Terminal.Key>.stride
      }
    }
  }

  func add(_ cost: Int) { amount.withLock { $0 += cost } }

  func remove(_ cost: Int) {
    let hasRoom = amount.withLock { amount in
      let wasFull = amount >= Self.limit
      amount -= cost
      return wasFull && amount < Self.limit
    }
    if hasRoom { didMakeRoom() }
  }

  /// Notes that the program is to draw; returns false if that waits already.
  func addDisplay() -> Bool {
    hasDisplay.withLock { hasDisplay in
      defer { hasDisplay = true }
      return !hasDisplay
    }
  }

  func removeDisplay() { hasDisplay.withLock { $0 = false } }
}

/// The treatment of further input while the backlog is full; pure.
///
///     none ──full──▶ holding ──one second──▶ omitting
///      ▲               │                        │
///      └───────────────┴────────room────────────┘
///
/// While *holding*, the host does not read the terminal, so nothing is lost, as if a program did not read. A program
/// that is merely slow gets no further. If the main actor does not answer for a second, the host must read on, because
/// the next key may be Ctrl-C. Then it omits everything except the keys that make signals.
struct InputOmission: Sendable, Hashable {
  typealias Instant = SuspendingClock.Instant

  /// The time for which the terminal is not read.
  static let patience = Duration.seconds(1)

  /// Input that was omitted: the number of bytes, and the last report of the focus.
  struct Omitted: Sendable, Hashable {
    var bytes = 0
    var focus: Bool?

    /// Adds input; a terminal can send for ever.
    mutating func add(bytes more: Int = 0, focus new: Bool? = nil) {
      bytes += min(more, .max - bytes)
      focus = new ?? focus
    }
  }

  private enum State: Sendable, Hashable {
    case none
    case holding(until: Instant)
    case omitting(Omitted)
  }

  private var state = State.none

  /// Whether the terminal is not read.
  var isHolding: Bool { if case .holding = state { true } else { false } }
  /// Whether input is omitted.
  var isOmitting: Bool { if case .omitting = state { true } else { false } }
  /// The time when the state changes; nil if it is not known.
  var deadline: Instant? { if case .holding(let time) = state { time } else { nil } }

  /// Follows the backlog.
  ///
  /// - Returns: the input that was omitted, once there is room again.
  mutating func follow(isFull: Bool, now: Instant) -> Omitted {
    switch state {
    case .none where isFull: state = .holding(until: now + Self.patience)
    case .holding(let time) where isFull && now >= time: state = .omitting(Omitted())
    case .omitting(let omitted) where !isFull:
      state = .none
      return omitted
    case .holding where !isFull: state = .none
    case .none, .holding, .omitting: break
    }
    return Omitted()
  }

  /// Notes input that is omitted.
  mutating func omit(bytes: Int = 0, focus: Bool? = nil) {
    guard case .omitting(var omitted) = state else { return }
    omitted.add(bytes: bytes, focus: focus)
    state = .omitting(omitted)
  }
}

/// The input that waits until the computer wakes; pure.
///
/// The host goes on to read the terminal, because the next key may be Ctrl-C. So the input has a limit, and the rest is
/// omitted.
struct WaitingInput: Sendable, Hashable {
  /// The limit: some thousand keys.
  static let limit = 1 << 20

  /// The input, oldest first.
  ///
  /// What came in several reads stays apart: an `ESC` that a moment has made the Escape key begins no sequence.
  private(set) var elements: [TerminalInputParser.Element] = []
  private(set) var omitted = InputOmission.Omitted()
  private var cost = 0

  var isEmpty: Bool { elements.isEmpty }

  /// Adds bytes, or a report of the focus.
  mutating func append(_ element: TerminalInputParser.Element) {
    let (bytes, focus): ([UInt8], Bool?) =
      switch element {
      case .bytes(let bytes): (bytes, nil)
      case .focus(let isFocused): ([], isFocused)
      case .signalKey: ([], nil)
      }
    guard cost < Self.limit else { return omitted.add(bytes: bytes.count, focus: focus) }
    cost += InputBacklog.cost(of: [], bytes)
    elements.append(element)
  }
}
