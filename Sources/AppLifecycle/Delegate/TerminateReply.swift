/// A delegate's answer to the question whether its application may end.
///
/// AppKit's reply *later* has no counterpart, because ``ApplicationDelegate/applicationShouldTerminate(_:cause:)`` is
/// asynchronous: a delegate that needs time, for example for the user's answer, awaits it there.
public enum TerminateReply: Sendable, Hashable {
  /// The application ends, in order.
  case now
  /// The application continues, and ignores the input that asked for the end (``IgnoredReason/refused``).
  case cancel
}
