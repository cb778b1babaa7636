internal import CPubSub

/// The hook points in the Swift code, which correspond to those in C (PubSubHooks.h).
///
/// In release builds they contain no code. In debug builds they do nothing unless a test has installed a scheduler.
enum Hook {
  /// Marks a point between two steps of the thread.
  @inline(__always)
  static func step(_ place: StaticString) {
    #if PUBSUB_HOOKS
      tell(PUBSUB_STEPS, place, nil)
    #endif
  }

  /// Reports what the thread does with the lock of an object.
  @inline(__always)
  static func lock(_ move: pubsub_move, of owner: AnyObject) {
    #if PUBSUB_HOOKS
      tell(move, move == PUBSUB_HAS_UNLOCKED ? "unlock" : "lock", owner)
    #endif
  }

  #if PUBSUB_HOOKS
    @inline(__always)
    private static func tell(_ move: pubsub_move, _ place: StaticString, _ owner: AnyObject?) {
      let place = UnsafeRawPointer(place.utf8Start).assumingMemoryBound(to: CChar.self)
      pubsub_hook(move, place, owner.map { UnsafeRawPointer(Unmanaged.passUnretained($0).toOpaque()) })
    }
  #endif
}
