// LifecycleStateMachine+Ignoring.swift decides which inputs are ignored.

/// A reason why an application ignored an input.
public enum IgnoredReason: String, Sendable, Hashable, CaseIterable {
  /// The input launches an application that is already running.
  case alreadyRunning = "the application is running already"
  /// The input needs a process, and there is none.
  case notRunning = "the application is not running"
  /// The input brings an application to the foreground that is already there.
  case alreadyInForeground = "the application is in the foreground already"
  /// The input needs the application in the foreground.
  case notInForeground = "the application is not in the foreground"
  /// The input needs the application in the background, and not suspended.
  case notInBackground = "the application is not in the background"
  /// The input needs a suspended application.
  case notSuspended = "the application is not suspended"
  /// A suspended application cannot handle the input.
  case suspended = "the application is suspended"
  /// The delegate refused to let the application end.
  case refused = "the delegate refused to end"
  /// The input wakes an application that is not suspended.
  case alreadyAwake = "the application is awake already"
  /// The user cannot do this while the screen is locked.
  case screenLocked = "the screen is locked"
  /// The input locks a screen that is already locked.
  case alreadyLocked = "the screen is locked already"
  /// The input unlocks a screen that is not locked.
  case notLocked = "the screen is not locked"
  /// The interruption has already begun.
  case alreadyInterrupted = "this interruption stands already"
  /// The interruption has not begun, so it cannot end.
  case notInterrupted = "no such interruption stands"
  /// The switcher is open already.
  case switcherOpen = "the switcher is open already"
  /// The switcher is not open.
  case switcherClosed = "the switcher is not open"
  /// The input is for one window, and the application follows the app-based life cycle.
  case noScenes = "an application without scenes has no windows"
  /// The input is for a scene that is not connected.
  case unknownScene = "no such scene is connected"
  /// The input connects a scene that is already connected.
  case sceneConnected = "the scene is connected already"
  /// The input opens a scene that is already in the foreground, or reclaims a scene that is in the foreground.
  case sceneInForeground = "the scene is in the foreground"
  /// The input sends a scene to the background that is not in the foreground.
  case sceneNotInForeground = "the scene is not in the foreground"
  /// The input gives the focus to a scene whose window already has it.
  case sceneFocused = "the scene has the focus already"
  /// The input takes the focus from a scene whose window does not have it.
  case sceneUnfocused = "the scene has lost the focus already"
}
