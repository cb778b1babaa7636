/// An action of the system on an application, as a host sends it.
///
/// Hosts translate the events of a real machine into inputs. Any input may come in any state. An input that the current
/// state cannot handle is ignored with a reason, and is never an error (see ``TransitionReport/outcome-swift.property``).
///
/// A simulated system reads inputs from a script. A script also contains actions that no host can send, such as a crash.
///
/// In the scene-based life cycle ``launch`` and ``open`` refer to the scene ``SceneIdentifier/main``, and ``home``
/// sends every scene in the foreground to the background.
public enum SystemInput: Sendable, Hashable {
  /// The user launches an application that is not running. Script: `launch`.
  case launch
  /// The system launches the application into the background. Script: `launch:background`.
  case launchInBackground
  /// The user brings the application to the foreground: launches it, wakes it, or returns to it. Script: `open`.
  case open
  /// The user leaves for the home screen or another application. Script: `home`.
  case home
  /// The screen is locked. Script: `lock`.
  ///
  /// An application in the foreground goes to the background, as with ``home``. If the device has a pass code,
  /// protected files become unreadable afterwards; see ``Application/isProtectedDataAvailable``.
  case lock
  /// The screen is unlocked. Script: `unlock`.
  ///
  /// The application returns to the foreground if it was there when the screen was locked. Otherwise it keeps its state:
  /// a suspended application stays suspended.
  case unlock
  /// The device has a pass code from now on, so that locking protects the application's data, or no longer has one.
  /// Script: `passcode:on`, `passcode:off`.
  case setPasscode(Bool)
  /// An interruption begins. Script: `interrupt:NAME`.
  ///
  /// It takes effect in every state, also while the application is suspended or not running; so does its end.
  case beginInterruption(DeactivationReason)
  /// An interruption ends, in any state. Script: `end:NAME`.
  case endInterruption(DeactivationReason)
  /// Memory is low. Script: `memory`.
  case memoryWarning
  /// The date changed, the clock was set, or the time zone changed. Script: `time`.
  case significantTimeChange
  /// A background fetch wakes or launches the application into the background. Script: `fetch`.
  case fetch
  /// The system freezes an application in the background. Script: `suspend`.
  case suspend
  /// The system lets a suspended application run in the background. Script: `wake`.
  case wake
  /// The user asks the application to end: a key, a menu, Ctrl-C. Script: `quit`.
  ///
  /// The delegate may refuse (``ApplicationDelegate/applicationShouldTerminate(_:cause:)``). A suspended application is
  /// not asked.
  case terminate
  /// The system ends the application without asking: SIGTERM, a lost terminal. Script: `kill`.
  ///
  /// The application calls `willTerminate` unless it is suspended, so a host sends ``wake`` first. Before that call the
  /// application waits for open background tasks: for the rest of the budget of `didEnterBackground` if it was in the
  /// foreground, otherwise for at most half of ``Application/Configuration/willTerminateBudget``. After half of that time
  /// their expiration handlers run. A ``terminate`` to which the delegate agrees does the same. A simulated system does
  /// not wait for the tasks.
  case shutDown
  /// The system connects a window's scene in the background. Script: `scene:connect:ID`.
  case connectScene(SceneIdentifier)
  /// The user brings a window to the foreground: connects its scene, and wakes or launches the application. Script:
  /// `scene:open:ID`.
  case openScene(SceneIdentifier)
  /// A window enters the background, and the application with the last window. Script: `scene:background:ID`.
  case sendSceneToBackground(SceneIdentifier)
  /// A window loses the keyboard focus: its scene resigns active, and the other scenes do not change. Script:
  /// `scene:unfocus:ID`.
  ///
  /// The scene stays without focus until ``focusScene(_:)`` or its disconnection, also while it is in the background. When the focus
  /// moves between two windows, send ``focusScene(_:)`` first: the application then stays active.
  case unfocusScene(SceneIdentifier)
  /// A window gains the keyboard focus again. Script: `scene:focus:ID`.
  case focusScene(SceneIdentifier)
  /// The system disconnects the scene of a window in the background; its session remains. Script: `scene:reclaim:ID`.
  case reclaimScene(SceneIdentifier)
  /// The user closes a window; its session ends. Script: `scene:close:ID`.
  case closeScene(SceneIdentifier)

  /// The action of the script language for this input.
  package var scriptToken: String {
    switch self {
    case .launch: "launch"
    case .launchInBackground: "launch:background"
    case .open: "open"
    case .home: "home"
    case .lock: "lock"
    case .unlock: "unlock"
    case .setPasscode(let on): on ? "passcode:on" : "passcode:off"
    case .beginInterruption(let reason): "interrupt:\(reason.rawValue)"
    case .endInterruption(let reason): "end:\(reason.rawValue)"
    case .memoryWarning: "memory"
    case .significantTimeChange: "time"
    case .fetch: "fetch"
    case .suspend: "suspend"
    case .wake: "wake"
    case .terminate: "quit"
    case .shutDown: "kill"
    case .connectScene(let id): "scene:connect:\(id.rawValue)"
    case .openScene(let id): "scene:open:\(id.rawValue)"
    case .sendSceneToBackground(let id): "scene:background:\(id.rawValue)"
    case .unfocusScene(let id): "scene:unfocus:\(id.rawValue)"
    case .focusScene(let id): "scene:focus:\(id.rawValue)"
    case .reclaimScene(let id): "scene:reclaim:\(id.rawValue)"
    case .closeScene(let id): "scene:close:\(id.rawValue)"
    }
  }
}
