#if canImport(CSDL)
  import AppLifecycle
  import CSDL
  import UnixHost

  /// The program's event loop, on the first thread: SDL's events, the main actor's work, and the pictures.
  @MainActor final class SDLLoop {
    private let host: GameHost
    private let delegate: GameDelegate
    private let windows: SDLWindows
    private var status: Int32?

    init(host: GameHost, delegate: GameDelegate, windows: SDLWindows) {
      (self.host, self.delegate, self.windows) = (host, delegate, windows)
    }

    /// Runs until the application has ended.
    ///
    /// - Returns: the exit status.
    func run() -> Int32 {
      Task { status = await host.run() }
      let watch = MainActorWatch()
      var time = SDL_GetTicks64()
      while status == nil {
        let isPlaying = delegate.session?.isPaused == false
        var batch: [WindowEvent] = []
        var event = SDL_Event()
        // A game that is being played shows sixty pictures a second; a paused one waits for events, and costs nothing.
        var hasEvent = SDL_WaitEventTimeout(&event, isPlaying ? 16 : -1) == 1
        // All events that SDL has now form one batch: a focus that moves from window to window is two events.
        while hasEvent {
          switch event.type {
          case MainActorWatch.eventType: watch.performWork()
          case SDL_KEYDOWN.rawValue where event.key.repeat == 0:
            if let key = event.key.meaning { delegate.press(key, in: host.application) }
          case SDL_KEYUP.rawValue:
            if let key = event.key.meaning { delegate.release(key) }
          case SDL_WINDOWEVENT.rawValue:
            if let news = windows.news(in: event.window) { batch.append(news) }
          default: break
          }
          hasEvent = SDL_PollEvent(&event) == 1
        }
        if !batch.isEmpty { host.take(batch) }
        let now = SDL_GetTicks64()
        delegate.session?.advance(by: isPlaying ? Double(now - time) / 1000 : 0)
        time = now
        if let session = delegate.session { windows.show(session) }
      }
      return status ?? 0
    }
  }

  extension SDL_KeyboardEvent {
    /// What the key means in the game.
    fileprivate var meaning: GameDelegate.Key? {
      switch Int(keysym.sym) {
      case Int(SDLK_LEFT.rawValue): .left
      case Int(SDLK_RIGHT.rawValue): .right
      case Int(SDLK_SPACE.rawValue), Int(SDLK_RETURN.rawValue): .goOn
      case Int(SDLK_s.rawValue): .scores
      case Int(SDLK_q.rawValue): .quit
      default: nil
      }
    }
  }
#endif
