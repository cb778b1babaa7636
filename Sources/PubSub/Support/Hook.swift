#if PUBSUB_HOOKS
  internal import CPubSub
#endif

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

  /// Marks that the thread is about to take a lock, which another thread may hold.
  @inline(__always)
  static func locks(_ owner: AnyObject) {
    #if PUBSUB_HOOKS
      tell(PUBSUB_LOCKS, "lock", owner)
    #endif
  }

  /// Marks that the thread has taken a lock that was free.
  @inline(__always)
  static func hasLocked(_ owner: AnyObject) {
    #if PUBSUB_HOOKS
      tell(PUBSUB_HAS_LOCKED, "lock", owner)
    #endif
  }

  /// Marks that the thread has released a lock.
  @inline(__always)
  static func hasUnlocked(_ owner: AnyObject) {
    #if PUBSUB_HOOKS
      tell(PUBSUB_HAS_UNLOCKED, "unlock", owner)
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
