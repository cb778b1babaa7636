import CUnixHost

/// Threads of the host's own, which take every signal.
enum NativeThread {
  private final class Body: Sendable {
    let run: @Sendable () -> Void
    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
  }

  /// Runs a body on a new thread; false if the system has none.
  static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
    let argument = Unmanaged.passRetained(Body(body))
    let isStarted = unixhost_thread_start(
      { argument in
        guard let argument else { return }
        Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run()
      }, argument.toOpaque())
    if !isStarted { argument.release() }
    return isStarted
  }
}
