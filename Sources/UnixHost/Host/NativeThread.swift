import CUnixHost

/// Threads of the host, which block none of the signals that the host catches.
enum NativeThread {
  private final class Body: Sendable {
    let run: @Sendable () -> Void
    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
  }

  /// Runs a body on a new thread; returns false if the system cannot create one.
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
