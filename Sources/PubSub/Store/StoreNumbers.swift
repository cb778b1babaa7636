internal import CPubSub

/// Gives stores numbers that are shorter than their addresses, so that a plain subscription finds its store within one word.
///
/// A number is looked up without a lock: the holder of a number keeps the store's bus alive, and the number with it.
enum StoreNumbers {
  private struct State {
    /// How many have ever been given.
    var count = 0
    var returned: [UInt16] = []
  }

  private static let state = Guarded(State())

  /// A number for a store; nil while all are taken.
  static func take(for store: HandlerStore) -> UInt16? {
    let number = state.withLock { state -> UInt16? in
      if let number = state.returned.popLast() { return number }
      guard state.count < PUBSUB_NUMBERS else { return nil }
      state.count += 1
      return UInt16(state.count - 1)
    }
    guard let number else { return nil }
    pubsub_store_pointer(pubsub_owner_place(number), Unmanaged.passUnretained(store).toOpaque())
    return number
  }

  /// Frees the number of a store that goes; it has no holder any more.
  static func giveBack(_ number: UInt16) { state.withLock { $0.returned.append(number) } }

  /// The store of a number that has been taken.
  @inline(__always)
  static func store(_ number: UInt16) -> Unmanaged<HandlerStore> {
    // The holder of a number got it from a store that still exists.
    Unmanaged.fromOpaque(pubsub_load_pointer(pubsub_owner_place(number)).unsafelyUnwrapped)
  }
}
