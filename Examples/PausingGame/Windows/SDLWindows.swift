#if canImport(CSDL)
  import AppLifecycle
  import CSDL
  import Glibc
  import UnixHost

  /// The windows that are open.
  @MainActor final class SDLWindows {
    private var windows: [SceneIdentifier: SDLWindow] = [:]

    /// Opens the video system.
    ///
    /// - Throws: why there can be no windows, such as that there is no display.
    init() throws {
      // The process host handles signals.
      SDL_SetHint(SDL_HINT_NO_SIGNAL_HANDLERS, "1")
      SDL_SetMainReady()
      guard SDL_Init(SDL_INIT_VIDEO) == 0 else { throw SDLWindow.Failure() }
    }

    /// Opens a scene's window; the program cannot go on without it.
    func open(_ scene: SceneIdentifier) -> any GameWindow {
      do {
        let window =
          scene == .main
          ? try SDLWindow("Pausing Game", of: scene, x: 40, y: 60, width: Game.size.x, height: Game.size.y)
          : try SDLWindow("Scores", of: scene, x: 720, y: 60, width: 260, height: 300)
        window.onClose { [weak self] in self?.windows[scene] = nil }
        windows[scene] = window
        return window
      } catch {
        StandardError.writeLine("PausingGame: no window can be opened: \(error)")
        exit(EX_UNAVAILABLE)
      }
    }

    /// Translates an SDL event about one of the windows; nil if it does not concern the application.
    func news(in event: SDL_WindowEvent) -> WindowEvent? {
      guard let window = windows.values.first(where: { $0.number == event.windowID }) else { return nil }
      switch SDL_WindowEventID(UInt32(event.event)) {
      case SDL_WINDOWEVENT_FOCUS_GAINED: return WindowEvent(.gainedFocus, of: window.scene)
      case SDL_WINDOWEVENT_FOCUS_LOST: return WindowEvent(.lostFocus, of: window.scene)
      case SDL_WINDOWEVENT_HIDDEN, SDL_WINDOWEVENT_MINIMIZED: return WindowEvent(.wasHidden, of: window.scene)
      case SDL_WINDOWEVENT_SHOWN, SDL_WINDOWEVENT_RESTORED: return WindowEvent(.wasShown, of: window.scene)
      case SDL_WINDOWEVENT_CLOSE: return WindowEvent(.wasClosed, of: window.scene)
      default: return nil
      }
    }

    /// Shows the present state of the game in each window.
    func show(_ session: GameSession) {
      windows[.main]?.show(Picture(of: session.game, isPaused: session.isPaused))
      windows[.scores]?.show(Picture(scoresOf: session.game, isPaused: session.isPaused))
    }
  }
#endif
