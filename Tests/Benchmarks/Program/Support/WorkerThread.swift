import Foundation

/// A thread that waits from before the first measurement until after the last.
final class ParkedThread {
  private let release = DispatchSemaphore(value: 0)
  private let thread: WorkerThread

  init() {
    let hasStarted = DispatchSemaphore(value: 0)
    thread = WorkerThread { [release] in
      hasStarted.signal()
      release.wait()
    }
    hasStarted.wait()
  }

  func end() {
    release.signal()
    thread.join()
  }
}

/// A thread of the operating system's.
struct WorkerThread {
  private final class Body {
    let run: @Sendable () -> Void
    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
  }

  private let thread: pthread_t

  init(_ run: @escaping @Sendable () -> Void) {
    var thread = pthread_t()
    let body = Unmanaged.passRetained(Body(run))
    let status = pthread_create(
      &thread, nil,
      { argument in
        Unmanaged<Body>.fromOpaque(argument!).takeRetainedValue().run()
        return nil
      }, body.toOpaque())
    precondition(status == 0, "no thread could be started")
    self.thread = thread
  }

  func join() { pthread_join(thread, nil) }
}
