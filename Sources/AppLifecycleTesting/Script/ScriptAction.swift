package import AppLifecycle

/// One action of a script, and its place in the text.
public struct ScriptAction: Sendable, Hashable {
  /// The effect of an action.
  package enum Kind: Sendable, Hashable {
    /// An input of the system or an action of the device: `launch`, `interrupt:call`, `crash` and others.
    case input(LifecycleInput)
    /// A host stops the process, as at Ctrl-Z: `host:stop`.
    case hostStop
    /// A host ends the process, as at SIGTERM: `host:end`.
    case hostEnd
    /// Virtual time passes: `wait:5s`.
    case wait(Duration)
    /// The application begins a background task: `task:begin:NAME`.
    case beginTask(String)
    /// The application ends a background task: `task:end:NAME`.
    case endTask(String)
    /// The application begins a background mode: `mode:begin:NAME`.
    case beginMode(String)
    /// The application ends a background mode: `mode:end:NAME`.
    case endMode(String)
    /// The application's next call of this name takes this time, or its next save: `slow:didEnterBackground:4s`.
    case slow(call: String, duration: Duration)
    /// The next save of the application's state fails, as on a full disk: `fail:save`.
    case failSave
    /// An action of the test's own: `do:NAME`; see ``SimulatedSystem/addAction(_:always:_:)``.
    case own(String)
  }

  /// The effect of the action.
  package let kind: Kind
  /// The action as it was written.
  public let token: String
  /// The line on which it was written, from 1.
  public let line: Int
  /// The column at which it begins, in characters, from 1.
  public let column: Int
  /// For a wait of a replay the time after the beginning of the script at which it ends; nil for any other action.
  var end: Duration?
}
