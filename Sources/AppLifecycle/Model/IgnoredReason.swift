/// Why an input was ignored: the present state cannot take it.
public enum IgnoredReason: String, Sendable, Hashable, CaseIterable {
  /// A launch of an application that runs already.
  case alreadyRunning = "the application is running already"
  /// An input that needs a process, and there is none.
  case notRunning = "the application is not running"
  /// A return to the foreground of an application that is there.
  case alreadyInForeground = "the application is in the foreground already"
  /// An input that needs the application in the foreground.
  case notInForeground = "the application is not in the foreground"
  /// An input that needs the application in the background, awake.
  case notInBackground = "the application is not in the background"
  /// An input that needs a suspended application.
  case notSuspended = "the application is not suspended"
  /// An input that a suspended application cannot take.
  case suspended = "the application is suspended"
  /// An end that the delegate has refused.
  case refused = "the delegate refused to end"
  /// A wake-up of an application that is awake.
  case alreadyAwake = "the application is awake already"
  /// The user cannot do this while the screen is locked.
  case screenLocked = "the screen is locked"
  /// A second lock.
  case alreadyLocked = "the screen is locked already"
  /// An unlock without a lock.
  case notLocked = "the screen is not locked"
  /// An interruption that stands already.
  case alreadyInterrupted = "this interruption stands already"
  /// The end of an interruption that does not stand.
  case notInterrupted = "no such interruption stands"
  /// The switcher is open already.
  case switcherOpen = "the switcher is open already"
  /// The switcher is not open.
  case switcherClosed = "the switcher is not open"
  /// An input that means a window, to an application that follows the app-based life cycle.
  case noScenes = "an application without scenes has no windows"
  /// An input that means a scene that is not connected.
  case unknownScene = "no such scene is connected"
  /// A connection of a scene that is connected.
  case sceneConnected = "the scene is connected already"
  /// A scene that is to come to the foreground and is there, or is to be reclaimed and in use.
  case sceneInForeground = "the scene is in the foreground"
  /// A scene that is to leave the foreground and is not there.
  case sceneNotInForeground = "the scene is not in the foreground"
  /// The focus for a scene whose window has it.
  case sceneFocused = "the scene has the focus already"
  /// The loss of a focus that the scene's window does not have.
  case sceneUnfocused = "the scene has lost the focus already"
}
