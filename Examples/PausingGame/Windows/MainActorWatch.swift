#if canImport(CSDL)
  import CSDL
  import Glibc
  import UnixHost

  /// Wakes SDL's event loop when work waits for the main actor.
  ///
  /// SDL cannot wait for descriptors. A thread waits for `MainLoop.descriptor` instead, and pushes an event. Then it waits until
  /// the loop has done the work; otherwise it would push one event after another.
  @MainActor final class MainActorWatch {
    /// The type of the events that the thread pushes.
    nonisolated static let eventType = SDL_USEREVENT.rawValue
    private let workIsDone = SDL_CreateSemaphore(0)

    init() {
      SDL_DetachThread(SDL_CreateThread(Self.watch, "main actor watch", UnsafeMutableRawPointer(workIsDone)))
    }

    private nonisolated static let watch: SDL_ThreadFunction = { workIsDone in
      while true {
        var queue = pollfd(fd: MainLoop.descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&queue, 1, -1) > 0 else { continue }
        var event = SDL_Event()
        event.type = MainActorWatch.eventType
        // A full queue takes no event; then the thread tries again.
        if SDL_PushEvent(&event) == 1 { SDL_SemWait(OpaquePointer(workIsDone)) }
      }
    }

    /// Does the work, after an event of the thread, and lets the thread wait again.
    func performWork() {
      MainLoop.performWork()
      SDL_SemPost(workIsDone)
    }
  }
#endif
