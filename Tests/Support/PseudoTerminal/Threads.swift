import CPseudoTerminal
import Glibc

/// A failed call of the operating system.
package struct SystemError: Error, CustomStringConvertible {
  /// The call that failed.
  package let call: String
  /// The error number.
  package let code: Int32

  /// An error of the call, by default with the calling thread's `errno`.
  package init(_ call: String, code: Int32 = errno) {
    self.call = call
    self.code = code
  }

  /// The call and the error's text.
  package var description: String { "\(call): \(String(cString: strerror(code)))" }
}

private final class ThreadBody: Sendable {
  let run: @Sendable () -> Void
  init(_ run: @escaping @Sendable () -> Void) { self.run = run }
}

/// Runs `body` on a new thread: for calls that block, which must not hold one of the few threads that run tasks.
package func startThread(_ body: @escaping @Sendable () -> Void) {
  var thread = pthread_t()
  let argument = Unmanaged.passRetained(ThreadBody(body)).toOpaque()
  let error = pthread_create(
    &thread, nil,
    { argument in
      Unmanaged<ThreadBody>.fromOpaque(argument!).takeRetainedValue().run()
      return nil
    }, argument)
  precondition(error == 0, "no thread: \(String(cString: strerror(error)))")
  pthread_detach(thread)
}

/// Runs a blocking `body` on a thread of its own and returns what it returns.
package func onThread<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
  await withCheckedContinuation { continuation in
    startThread { continuation.resume(returning: body()) }
  }
}

/// A descriptor that is closed when no code holds this object any more: a number that is used after its closing may be that of
/// another test by then.
final class OwnedDescriptor: Sendable {
  let number: Int32

  init(_ number: Int32) { self.number = number }

  deinit { close(number) }
}

/// Ends a thread's `poll` from another thread: a descriptor that becomes readable once.
struct Waker: Sendable {
  let descriptor: Int32

  init() throws {
    descriptor = cpt_waker_open()
    if descriptor < 0 { throw SystemError("eventfd") }
  }

  func wake() {
    var one: UInt64 = 1
    _ = write(descriptor, &one, 8)
  }

  /// Blocks until woken.
  func wait() {
    var woken = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    while poll(&woken, 1, -1) < 0, errno == EINTR {}
  }

  /// Takes back what was woken, for a waker that is used more than once.
  func clear() {
    var count: UInt64 = 0
    _ = read(descriptor, &count, 8)
  }

  /// Blocks until one of the sources is readable or has ended, and returns it, the first one if both are; nil once woken.
  func waitForInput(onEither first: Int32, or second: Int32?) -> Int32? {
    // A negative descriptor is passed over.
    var descriptors = [descriptor, first, second ?? -1].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    while poll(&descriptors, 3, -1) < 0, errno == EINTR {}
    if descriptors[0].revents != 0 { return nil }
    return descriptors[1].revents != 0 ? first : descriptors[2].fd
  }

  /// Blocks until `source` is readable or has ended; false once woken.
  func waitForInput(on source: Int32) -> Bool {
    var descriptors = [
      pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0), pollfd(fd: source, events: Int16(POLLIN), revents: 0),
    ]
    while poll(&descriptors, 2, -1) < 0, errno == EINTR {}
    return descriptors[0].revents == 0
  }
}

/// Writes all of `bytes`, waiting for room where the descriptor does not block.
///
/// Where the other end is closed this throws EPIPE: the reader may be a program or server that a test ends, and SIGPIPE, which the
/// system sends as well, would end all tests.
func writeAll(_ bytes: [UInt8], to descriptor: Int32) throws {
  var (broken, before) = (sigset_t(), sigset_t())
  sigemptyset(&broken)
  sigaddset(&broken, SIGPIPE)
  pthread_sigmask(SIG_BLOCK, &broken, &before)
  defer {
    // The signal is this thread's, and pends until it is taken.
    var none = timespec()
    if sigismember(&before, SIGPIPE) == 0 { while sigtimedwait(&broken, nil, &none) == SIGPIPE {} }
    pthread_sigmask(SIG_SETMASK, &before, nil)
  }
  var rest = bytes[...]
  while !rest.isEmpty {
    let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
    if count >= 0 {
      rest = rest.dropFirst(count)
    } else if errno == EAGAIN {
      var room = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
      // Ten seconds bound failure: a terminal whose program reads nothing takes no more once its buffer is full.
      if poll(&room, 1, 10_000) == 0 { throw SystemError("write", code: ETIMEDOUT) }
    } else if errno != EINTR {
      throw SystemError("write")
    }
  }
}
