#if TSAN_LOCK
  #if canImport(Glibc)
    internal import Glibc
  #elseif canImport(Darwin)
    internal import Darwin
  #endif

  /// A value behind a lock that ThreadSanitizer can see: it would report false races with the standard library's mutex,
  /// whose library is not instrumented.
  public final class Guarded<Value: ~Copyable>: @unchecked Sendable {
    /// The value and a byte: a value of size zero would share the next member's address, and cause false reports.
    private struct Storage: ~Copyable {
      var value: Value
      let padding: UInt8 = 0
    }

    private var storage: Storage
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>

    /// Makes a lock around a value.
    public init(_ value: consuming sending Value) {
      storage = Storage(value: value)
      mutex = .allocate(capacity: 1)
      pthread_mutex_init(mutex, nil)
    }

    deinit {
      pthread_mutex_destroy(mutex)
      mutex.deallocate()
    }

    /// Calls `body` with the value, under the lock.
    public func withLock<Result: ~Copyable, Failure: Error>(
      _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
      pthread_mutex_lock(mutex)
      defer { pthread_mutex_unlock(mutex) }
      return try body(&storage.value)
    }

    /// Calls `body` with the value if no thread holds the lock; returns nil otherwise.
    public func withLockIfAvailable<Result: ~Copyable, Failure: Error>(
      _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result? {
      guard pthread_mutex_trylock(mutex) == 0 else { return nil }
      defer { pthread_mutex_unlock(mutex) }
      return try body(&storage.value)
    }
  }
#else
  // Exported, so that files which import this module see the members of the mutex.
  @_exported public import Synchronization

  /// A value behind a lock: the standard library's mutex, under a name that the ThreadSanitizer build can replace.
  public typealias Guarded<Value: ~Copyable> = Mutex<Value>
#endif
