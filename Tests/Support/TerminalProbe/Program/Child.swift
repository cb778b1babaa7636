import Dispatch
import Glibc

/// A child process that a shell runs, on the terminal of this process.
struct Child {
  let pid: pid_t

  init(_ command: String, ownGroup: Bool) throws {
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    // Threads of a Swift program block signals, which a child must not inherit.
    var signals = sigset_t()
    sigemptyset(&signals)
    posix_spawnattr_setsigmask(&attributes, &signals)
    sigfillset(&signals)
    posix_spawnattr_setsigdefault(&attributes, &signals)
    let group = ownGroup ? POSIX_SPAWN_SETPGROUP : 0
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | group))
    var pid: pid_t = 0
    let words: [UnsafeMutablePointer<CChar>?] = ["sh", "-c", command].map { (word: String) in strdup(word) } + [nil]
    defer { for word in words { free(word) } }
    guard posix_spawnp(&pid, "sh", nil, &attributes, words, environ) == 0 else { throw CannotStart() }
    self.pid = pid
  }

  struct CannotStart: Error {}

  /// Waits for its end, and returns the status of `wait`.
  func end() async -> Int32 {
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async { [pid] in
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
        continuation.resume(returning: status)
      }
    }
  }
}
