public import AppLifecycle

/// One action of a script: what is done, and where it was written.
public struct ScriptAction: Sendable, Hashable {
  /// What an action does.
  public enum Kind: Sendable, Hashable {
    /// The system does something to the application: `launch`, `interrupt:call`, `scene:open:ID` and the like.
    case input(SystemInput)
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
    /// The application's next call of this name takes that long: `slow:didEnterBackground:4s`.
    case slow(call: String, duration: Duration)
  }

  /// What the action does.
  public let kind: Kind
  /// The action as it was written.
  public let token: String
  /// The line on which it was written, from 1.
  public let line: Int
  /// The column at which it begins, in characters, from 1.
  public let column: Int
}
