#if PUBSUB_HOOKS
  internal import CPubSub
#endif

/// Hook points of the writers' half, as those of C (PubSubHooks.h): nothing at all but in debug builds, and there nothing
/// unless a test has installed a scheduler.
enum Hook {
  /// The thread is between two steps.
  @inline(__always)
  static func step(_ place: StaticString) {
    #if PUBSUB_HOOKS
      tell(PUBSUB_STEPS, place, nil)
    #endif
  }

  /// The thread is about to take a lock, which others may have.
  @inline(__always)
  static func locks(_ owner: AnyObject) {
    #if PUBSUB_HOOKS
      tell(PUBSUB_LOCKS, "lock", owner)
    #endif
  }

  /// The thread has taken a lock that was free.
  @inline(__always)
  static func hasLocked(_ owner: AnyObject) {
    #if PUBSUB_HOOKS
      tell(PUBSUB_HAS_LOCKED, "lock", owner)
    #endif
  }

  /// The thread has let go of a lock.
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
